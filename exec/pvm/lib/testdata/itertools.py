import itertools as it
def show(a): return [getattr(x, '__name__', x) for x in a]
def t(f, *a, **k):
    try:
        r = f(*a, **k)
        if not isinstance(r, (str, list, tuple)): r = list(it.islice(r, 12))
        print(getattr(f, '__name__', '?'), show(a), k, '->', r)
    except Exception as e:
        print(getattr(f, '__name__', '?'), show(a), k, '!!', type(e).__name__, e)
t(it.count, 'a'); t(it.count, 1, 'b'); t(it.count, start=2, step=.5); t(it.count, step=2); t(it.count, 1, 1); t(it.count, 10, -3); t(it.count, 2**63 - 2)
print(it.count(5), it.count(1, 2), it.count(1.0, 1), it.count(1, .5), it.repeat(5), it.repeat('a', 3), it.repeat(1, -3))
t(it.repeat); t(it.repeat, 1, 'a'); t(it.repeat, 1, -3); t(it.repeat, 1, times=2); t(it.repeat, object=1)
t(it.cycle, 5); t(it.cycle); t(it.cycle, x=1); t(it.cycle, 'abc'); t(it.cycle, [])
for a in ((3,), (1, 4), (0, None, 2), (2, 3, 5), (None,), (0,), (5, 2), (1, None)): t(it.islice, 'abcdefg', *a)
t(it.islice,[1]);t(it.islice,[1],-1);t(it.islice,[1],'a');t(it.islice,[1],1,-1);t(it.islice,[1],-1,1);t(it.islice,[1],1,2,0);t(it.islice,[1],1,2,'a');t(it.islice,[1],1,2,3,4);t(it.islice,5,1);t(it.islice);t(it.islice,[1],10**30)
g = iter(range(10)); print(list(it.islice(g, 2, 5)), next(g))
for r in (None, 0, 1, 2, 3, 4): t(it.permutations, 'abc', r)
for r in (0, 1, 2, 3, 4): t(it.combinations, 'abc', r); t(it.combinations_with_replacement, 'abc', r)
t(it.permutations,[1],'a');t(it.permutations,[1],-1);t(it.permutations,5);t(it.combinations,[1]);t(it.combinations,[1],-1);t(it.combinations,[1],'a');t(it.combinations_with_replacement,[1],-1);t(it.combinations_with_replacement,[],2);t(it.combinations_with_replacement,[],0)
t(it.product,'ab',[1,2]);t(it.product,'ab',repeat=2);t(it.product);t(it.product,[],'a');t(it.product,'ab',repeat=0);t(it.product,[1],repeat=-1);t(it.product,[1],repeat='a');t(it.product,5);t(it.product,foo=1)
print(len(list(it.permutations(range(5)))), sum(1 for _ in it.product(range(3), repeat=5)), len(list(it.combinations(range(10), 4))))
t(it.zip_longest,[1,2,3],'a');t(it.zip_longest,[1],'abc',fillvalue='-');t(it.zip_longest);t(it.zip_longest,5);t(it.zip_longest,[1],foo=1)
t(it.accumulate,[1,2,3]);t(it.accumulate,[1,2,3],lambda a,b:a*b);t(it.accumulate,[1,2],initial=10);t(it.accumulate,[]);t(it.accumulate,[],initial=1);t(it.accumulate,'abc');t(it.accumulate,5);t(it.accumulate);t(it.accumulate,[1,2,3],func=max)
print([(k, list(v)) for k, v in it.groupby('aabbbca')], [(k, list(v)) for k, v in it.groupby([1, 3, 2, 4, 5], key=lambda x: x % 2)])
g = it.groupby('aabb'); k1, v1 = next(g); k2, v2 = next(g); print(k1, k2, list(v1), list(v2), list(g))
g = it.groupby('aab'); k1, v1 = next(g); print(next(v1)); print([k for k, _ in g], list(v1))
t(it.groupby,5);t(it.groupby)
t(it.chain,'ab',[1],());t(it.chain);t(it.chain,5);t(it.chain.from_iterable,['ab','c']);t(it.chain.from_iterable,5);t(it.chain.from_iterable,[5]);t(it.chain,a=1)
t(it.compress,'abcdef',[1,0,1,0,1,1]);t(it.compress,'abc',[1]);t(it.compress,[1]);t(it.compress,5,6);t(it.compress,data='ab',selectors=[0,1])
t(it.starmap,pow,[(2,5),(3,2)]);t(it.starmap,1);t(it.starmap,max,[1]);t(it.takewhile,lambda x:x<3,[1,2,3,1]);t(it.dropwhile,lambda x:x<3,[1,2,3,1]);t(it.filterfalse,None,[0,1,'',2]);t(it.filterfalse,lambda x:x%2,range(6));t(it.takewhile,None,[1]);t(it.dropwhile,1,2,3)
t(it.pairwise,'abcd');t(it.pairwise,'a');t(it.pairwise,5)
a, b = it.tee([1, 2, 3]); print(next(a), next(a), list(b), list(a)); print(it.tee([1], 0)); t(it.tee,[1],-1);t(it.tee,[1],'a');t(it.tee,5)
a, b, c = it.tee(iter('xyz'), 3); next(b); d, e = it.tee(b); print(list(a), list(b), list(c), list(d), list(e))
tw = it.takewhile(lambda x: x < 2, [1, 5, 1]); print(list(tw), list(tw))
def bad():
    yield 1
    raise ValueError('bad')
for f in (lambda: it.chain(bad()), lambda: it.accumulate(bad()), lambda: it.cycle(bad()), lambda: it.tee(bad())[0], lambda: it.pairwise(it.chain([0], bad()))):
    x = f(); print(next(x))
    try: next(x)
    except ValueError as e: print(e)
    try: print(next(x))
    except StopIteration: print('stop')
class C(it.chain):
    def hello(self): return 'hi'
print(C('ab').hello(), list(C('ab')), isinstance(it.chain(), it.chain), type(it.count()), it.chain.__name__, it.chain.__module__)
for x in it.chain(range(3), 'ab'): print(x, end=' ')
print(); print(sum(it.islice(it.count(), 1000)), dict(it.zip_longest('ab', [1])), sorted(it.chain([3, 1], [2])), max(it.accumulate([1, -1, 5])))
print(list(zip(it.count(), 'abc')), list(map(lambda a, b: a + b, it.repeat(10), [1, 2])))
