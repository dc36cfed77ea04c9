def e(f, *a, **k):
    try:
        print("ok", repr(f(*a, **k)))
    except Exception as x:
        print(type(x).__name__, x)
l=[3,1,2]
l.append(5); l.insert(0,9); l.insert(-100,7); l.insert(100,8); print(l)
e(l.pop); e(l.pop,0); e(l.pop,100); e([].pop); e(l.remove,99); l.remove(1); print(l)
e(l.index,99); e(l.index,3); e(l.count,2); e(l.append); e(l.append,1,2)
e(l.sort, 1); e(l.sort, foo=1); l.sort(); print(l); l.sort(reverse=True); print(l)
l.sort(key=lambda x:-x); print(l); e(l.sort, key=1); e(sorted,[1,'a']); e(sorted); e(sorted,3)
a=list(range(10)); print(a[2:5],a[::-1],a[::3],a[-3:],a[5:2],a[8:2:-2])
a[2:4]=[1,1,1]; print(a); a[::2]=[0]*len(a[::2]); print(a); del a[::3]; print(a); del a[1:3]; print(a); del a[0]; print(a)
def f():
    a=[1,2,3]; a[::2]=[1]
e(f)
def f():
    a=[1]; a[0:1]=5
e(f)
def f():
    a=[1]; a[0:1:2]=5
e(f)
def f(): [1][1.5]
e(f)
def f(): [1]["a"]=4
e(f)
def f(): [1][10**30]
e(f)
def f(): (1,)["a"]
e(f)
def f(): [1]+(1,)
e(f)
def f(): [1]*"a"
e(f)
def f(): 1.5*[1]
e(f)
def f(): (1,)+[1]
e(f)
print([1]*3,3*[1],(1,2)*2,[1]*-1,True*[4])
def f():
    a=[3,2,1]
    a.sort(key=lambda x:(a.append(1),x)[1])
e(f)
r=[1]; r.append(r); print(r); d={}; d[1]=d; print(d); t=(r,); print(t)
print([1,2]<[1,3],[1]<[1,2],(1,2)==(1,2),[1]==(1,),[1,2]!=[1,2])
def f(): [1]<['a']
e(f)
def f(): [1]<(1,)
e(f)
def f(): {}<{}
e(f)
print(hash((1,2))==hash((1,2)), {(1,2):3}[(1,2)])
e(hash,[]); e(hash,({},)); e(hash,set()); e(hash,slice(1))
e(list,5); e(tuple,5); e(list,a=1); e(tuple,a=1); e(set,a=1); e(set,5); e(dict,5); e(dict,[1]); e(dict,[(1,2,3)]); e(dict,["ab"]); e(dict,[(1,2)],a=3); e(frozenset,[1,2,2])
d={'a':1,'b':2}
e(d.get,'a'); e(d.get,'z'); e(d.get,'z',5); e(d.pop,'z'); e(d.pop,'z',1); e(d.pop,'a'); e(d.popitem); e(d.popitem); e(d.setdefault,'q',4); e(d.setdefault,'q'); print(d)
e(lambda: d['zz']); e(lambda: d[[]]); d.update(a=1,b=2); d.update({'c':3}); d.update([('e',4)]); print(d, list(d), list(d.items()), list(reversed(d)), list(d.values()))
e(d.update,5); print(d|{'a':9}); d|={'a':7}; d|=[('y',1)]; print(d); e(lambda: d|5); e(dict.fromkeys,'abc',0); e(dict.fromkeys,'ab')
print(d.keys(),d.values(),d.items()); print('a' in d,'a' in d.keys(),('a',7) in d.items(),7 in d.values())
def f():
    d={1:2,3:4}
    for k in d: d[k+10]=1
e(f)
def f():
    d={1:2,3:4}
    for k in d: del d[k]
e(f)
def f():
    s={1,2}
    for k in s: s.add(k+10)
e(f)
print({1,2}|{3},{1,2}&{2},{1,2}-{2},{1,2}^{2,3},{1,2}<={1,2,3},{1}<{1},{1,2}>={1},{1}=={1},frozenset({1})=={1},{1,2}.isdisjoint([3]))
e(lambda:{1}|[1]); e(lambda:{1}<[1]); e({1}.remove,5); e(set().pop); e({1}.union,5); print({1}.union([2],[3]),{1,2,3}.intersection([1,2],[2]),{1,2,3}.difference([1],[2]))
s={1,2,3}; s|={4}; s&={1,4,2}; s-={1}; s^={9}; print(sorted(s)); s.update([1],[5]); s.difference_update([1]); s.intersection_update([2,5]); s.symmetric_difference_update([5,6]); print(s)
print({1:1}.keys()|{2},{1:1}.keys()&[1],{1:1,2:2}.keys()-{1},len({1:2}.items()|{3}),{1:1}.keys()=={1},{1:1}.keys()<={1,2}, [1]|{1:1}.keys())
e(lambda:{1:1}.values()|{2})
print(range(5),range(1,5,2),len(range(0,10,3)),list(range(10,0,-3)),range(10)[2:5],range(10)[::-1],range(10)[-1],5 in range(10),5.0 in range(10),range(5)==range(0,5,1),range(0)==range(2,1),range(10).index(3),range(10).count(3))
e(range); e(range,'a'); e(range,1,2,0); e(range,1,2,3,4); e(lambda:range(5)[10]); e(range(5).index,10); e(range(5).index,'a'); e(lambda: range(3)['a']); e(len,range(10**30)); print(range(10**30)[10**29], list(range(10**20,10**20+3)), range(10**20,10**20+10,3)[-1], 10**20+1 in range(10**20,10**21))
print(slice(1,2,3),slice(5),slice(1,10,2).indices(5),slice(None,None,-1).indices(5)); e(slice); e(slice(1).indices,-1); e(slice(1,2,0).indices,3)
print(list(enumerate('ab')),list(enumerate('ab',5)),list(zip([1,2],'ab')),list(zip()),list(map(str,[1,2])),list(map(lambda a,b:a+b,[1,2],[3,4])),list(filter(None,[0,1,2])),list(filter(lambda x:x>1,[1,2,3])),list(reversed([1,2,3])),list(reversed((1,2))),list(reversed(range(3))),list(reversed('abc')))
e(lambda:list(zip([1],[1,2],strict=True))); e(lambda:list(zip([1,2],[1],strict=True))); e(lambda:list(zip([1,2],[1,2],[1],strict=True))); e(lambda:list(zip([1],[1],[1,2],strict=True)))
e(zip,1); e(zip,[1],foo=1); e(map,1); e(map,1,2); e(filter,1); e(enumerate,1); e(reversed,{1}); e(reversed,1)
e(iter,1); e(iter,1,2); e(next,1); e(next,iter([])); e(next,iter([]),5); i=iter([1,2,3]); next(i); print(list(i)); print(list(iter(iter([1,2,0,3]).__next__,0)))
e(sum,[1,2]); e(sum,[[1],[2]],[]); e(sum,['a'],''); e(sum,['a']); e(sum,[1.5,2]); e(sum,5); e(sum,[1],start=5); e(sum); e(sum,[b'a'],b'')
e(min,[1,2]); e(min,[]); e(max,1,5,3); e(max,[],default=4); e(max,1,2,default=3); e(max,['a','bb'],key=len); e(min); e(min,5); e(min,1,'a'); e(max,[1],foo=2)
e(any,[0,1]); e(all,[0,1]); e(any,[]); e(all,[]); e(len,5); e(len); e(any,5)
for x in (iter([]),iter(()),iter({}),iter({}.values()),iter({}.items()),iter(set()),iter(range(1)),reversed([]),reversed({}),zip(),map(str,[]),filter(None,[]),enumerate([]),iter(int,0),{}.keys(),{}.values(),{}.items(),range(1),slice(1),reversed(())): print(type(x).__name__, end=' ')
print()
e(list.append,{},1); e(dict.get,5,1); e(set.add,frozenset(),1); e(tuple.count,[],1); e(list.append)
class D(dict):
    def __missing__(self,k): return k*2
d=D(a=1); d.x=5; print(d['zz'],d,d.x,d.get('q'),type(d.copy()),D.fromkeys('a'))
class L(list):
    def __init__(self,*a,**k): super().__init__(*a); self.k=k
print(L([1,2],q=1).k,L((1,)),L([1])+[2],type(L([1])+[2]),L([3])==[3],len(L('ab')))
class T(tuple):
    def __new__(cls,*a): return super().__new__(cls,a)
print(T(1,2),T(1,2)==(1,2),hash(T(1))==hash((1,)),T(1,2)[0:1],type(T(1)[:]))
class S(set): pass
print(S([1]),S([1])|{2},S(),frozenset(),frozenset([1]),set())
class F(frozenset): pass
print(F([1]),{F([1])})
class X:
    def __radd__(s,o): return 'radd'
    def __rmul__(s,o): return 'rmul'
    def __index__(s): return 2
print([1]+X(),[1,2,3][X()],(1,2,3)[X()],range(9)[X()],[1]*3)
class H:
    def __init__(s,v): s.v=v
    def __hash__(s): return hash(s.v)
    def __eq__(s,o): return s.v==(o.v if isinstance(o,H) else o)
print({'abc':1}[H('abc')],{H('x'):2}['x'],{5:6}[H(5)],len({H(1):1,H(1):2}),{1:1,1.0:2,True:3})
print({1.5:1,2:2,10**20:3,1e20:4}, {float(10**15):1}[10**15])
print({**{'a':1},'b':2},[*range(3),*'ab'],{*[1,2],3},(*[1],2))
a,*b,c=[1,2,3,4]; print(a,b,c)
x=[1,2]; y=x; x+=(3,); print(y); x*=2; print(y); x+='a'; print(x)
print(list[int],dict[str,int],tuple[int,...],set[int]) 
print([1,2,3].__len__(),[1].__contains__(1),[1].__eq__(3),{}.__eq__(1),(1).__class__, [].__hash__, {}.__ne__({}))
big=[i*7919%1000 for i in range(1000)]; assert sorted(big)==sorted(big,key=lambda x:x); s=sorted(big,key=lambda x:x%10); print(s[:15], sorted(big,key=lambda x:x%10,reverse=True)[:15])
d={i:i for i in range(1000)}
for i in range(0,1000,2): del d[i]
for i in range(5): d[i]=1
print(len(d),list(d)[:5],list(d)[-5:], next(iter(d)))
print([x for x in [(1,'a'),(1,'b')]], [] is [], () == ())
