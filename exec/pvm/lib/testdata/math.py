import math
def t(f, *a, **k):
    try:
        r = f(*a, **k)
        if type(r) is float: r = '%.13g' % r  # glibc does not round correctly
        print(f.__name__, a, k, '->', r)
    except Exception as e:
        print(f.__name__, a, k, '!!', type(e).__name__, e)
inf, nan = math.inf, math.nan
for name in ('acos acosh asin asinh atan atanh ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma isfinite isinf isnan '
             'lgamma log log10 log1p log2 modf frexp radians sin sinh sqrt tan tanh trunc ulp isqrt factorial').split():
    f = getattr(math, name)
    for x in (0, 1, -1, 0.5, -0.5, 2, 3.75, 1e10, -0.0, 10, 25, inf, -inf, nan, 'a', None, True):
        if name == 'factorial' and x == 1e10: continue
        t(f, x)
for name in 'atan2 copysign fmod remainder pow nextafter'.split():
    for x in (0, 1, -1.5, inf, nan, -0.0, 7):
        for y in (0, 1, -2, 0.5, inf, -inf, nan):
            t(getattr(math, name), x, y)
t(math.ldexp,1,2.0);t(math.ldexp,1,10**30);t(math.ldexp,1,-10**30);t(math.ldexp,0,10**30);t(math.ldexp,1,5000);t(math.ldexp,0.75,-3);t(math.ldexp,inf,10**30)
t(math.factorial,-1);t(math.factorial,2.0);t(math.factorial,10**30);t(math.factorial,100)
t(math.comb,-1,2);t(math.comb,1,-2);t(math.comb,10**30,10**20);t(math.comb,1.5,2);t(math.comb,50,20);t(math.comb,5,9);t(math.comb,10**20,3);t(math.comb,7,0)
t(math.perm,5);t(math.perm,5,None);t(math.perm,-1);t(math.perm,5,-1);t(math.perm,10**30,10**20);t(math.perm,10,3);t(math.perm,3,5);t(math.perm,10**18,2)
t(math.isqrt,-1);t(math.isqrt,2.0);t(math.isqrt,10**60+1);t(math.gcd,1.0);t(math.gcd);t(math.gcd,12,-18,27);t(math.gcd,0);t(math.lcm,0,3);t(math.lcm);t(math.lcm,4,-6,10);t(math.gcd,10**40,6**30)
t(math.floor,'a');t(math.trunc,'a');t(math.log,0);t(math.log,-5);t(math.log,8,2);t(math.log,8,1);t(math.log,8,0);t(math.log2,10**400);t(math.log10,10**400);t(math.log,10**400);t(math.log,0,'a');t(math.log,1,2,3);t(math.log)
t(math.dist,[1],[1,2]);t(math.dist,[1,2],(3,4));t(math.dist,'a',(1,));t(math.dist,5,6);t(math.hypot);t(math.hypot,3,4);t(math.hypot,1,2,inf);t(math.hypot,'a')
t(math.fsum,[1e308,1e308]);t(math.fsum,[inf,-inf]);t(math.fsum,[.1]*10);t(math.fsum,['a']);t(math.fsum,5);t(math.fsum,[x/7 for x in range(20)])
t(math.isclose,1,1,rel_tol=-1);t(math.isclose,1,1.0000000001);t(math.isclose,1,1.1,rel_tol=.2);t(math.isclose,0,1e-12);t(math.isclose,0,1e-12,abs_tol=1e-9);t(math.isclose,inf,inf);t(math.isclose,nan,nan);t(math.isclose,1)
t(math.prod,[1,2,3],start=2);t(math.prod,['a']);t(math.prod,[]);t(math.prod,range(1,30));t(math.prod,[1.5,2]);t(math.prod,5);t(math.prod,['a',3])
t(math.sin);t(math.sin,1,2);t(math.sin,x=1);t(math.atan2,1);t(math.comb,5);t(math.isqrt)
t(math.cbrt,27);t(math.cbrt,-8)
class F:
    def __float__(self): return 2.25
    def __floor__(self): return 'f'
    def __ceil__(self): return 'c'
    def __trunc__(self): return 't'
class I:
    def __index__(self): return 6
print(math.sqrt(F()), math.floor(F()), math.ceil(F()), math.trunc(F()), math.factorial(I()), math.sqrt(I()), math.gcd(I(),9))
class B:
    def __float__(self): return 'x'
t(math.sqrt, 1<<3000); t(math.floor, 1e300)
try: math.sqrt(B())
except TypeError as e: print(e)
print(math.pi, math.e, math.tau, inf, nan)
