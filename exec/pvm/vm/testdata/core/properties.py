# Subclasses of property: __new__ takes anything, __init__ sets what there is.
class shared(property):
    def __init__(self, fget=None, fset=None, fdel=None, doc=None, onclass=None):
        super().__init__(fget=fget, fset=fset, fdel=fdel, doc=doc)
        self.onclass = onclass

    def __get__(self, obj, kind=None):
        if obj is None:
            return self.onclass
        return super().__get__(obj, kind)


class louder(property):
    def __init__(self, fget):
        super().__init__(lambda self: fget(self).upper(), doc="loud")


class bare(property):
    def __init__(self, *a, **k):
        pass


class Thing:
    def name(self):
        "The name."
        return "thing"

    size = shared(lambda self: 3, onclass="no size", doc="how large")
    loud = louder(name)
    plain = property(name)
    empty = bare(name, colour="red")


print(Thing.size, Thing().size, Thing().loud, Thing().plain)
print(Thing.__dict__["size"].__doc__, Thing.loud.__doc__, Thing.plain.__doc__, Thing.empty.fget)
p = property(lambda self: 1)
p.__init__(lambda self: 2, doc="second")
print(p.fget(None), p.__doc__, p.fset)
q = p.setter(print)
print(q.fget(None), q.__doc__, q.fset is print)
print(property.__new__(property, len, 1, 2).fget)
for wrong in (lambda: property(colour=1), lambda: property(1, 2, 3, 4, 5), lambda: property(len, fget=len), lambda: Thing().empty):
    try:
        wrong()
    except (TypeError, AttributeError) as error:
        print(type(error).__name__, error)


class logged(property):
    def __set__(self, obj, value):
        print("set", value)
        super().__set__(obj, value)

    def __delete__(self, obj):
        print("delete")


class Box:
    def put(self, value):
        self.held = value

    item = logged(lambda self: self.held, put)


box = Box()
box.item = 5
print(box.item)
del box.item
print(box.item)
