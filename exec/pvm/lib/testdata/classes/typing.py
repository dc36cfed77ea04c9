import typing
from typing import *
print(List[int], Optional[str], Union[int,str,None], Callable[[int],str], Dict[str,List[int]])
T=TypeVar('T'); K=TypeVar('K')
class Box(Generic[T]):
    def __init__(self,v): self.v=v
print(Box[int], Box[int](3).v, Box.__parameters__, Box[T][int])
@runtime_checkable
class HasF(Protocol):
    def f(self)->int: ...
class Y:
    def f(self): return 1
print(isinstance(Y(),HasF), isinstance(3,HasF), issubclass(Y,HasF))
class Pt(NamedTuple):
    x:int
    y:int=2
print(Pt(1), Pt._field_defaults, Pt.__annotations__)
class TD(TypedDict,total=False):
    a:int
print(TD(a=1), TD.__optional_keys__)
def f(a:'int', b:Optional['Y']=None)->'List[Y]': ...
print(get_type_hints(f))
print(get_origin(List[int]), get_args(Dict[str,int]), get_args(Callable[[int],str]))
UserId=NewType('UserId',int); print(UserId(3), UserId)
print(Literal['a',1], Annotated[int,'x'], Final[int], ClassVar[int])
@overload
def g(a:int)->int: ...
def g(a): return a
print(g(1), cast(int,'x'))
print(isinstance([], Sequence), Iterable[int], Mapping[str,int])
try: isinstance([], List[int])
except TypeError as e: print(e)
try: Y()
except Exception: pass
class Impl(HasF):
    def f(self): return 2
print(Impl().f())
try: HasF()
except TypeError as e: print(e)
print(int|None, Optional[int]==Union[None,int], T, Any)
print(SupportsInt, isinstance(3, SupportsInt))
