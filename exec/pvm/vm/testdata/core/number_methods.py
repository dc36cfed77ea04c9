# What operator methods of numbers answer for operands of other types.
for f in ('__divmod__','__rdivmod__','__add__','__radd__','__mod__','__rmod__','__floordiv__','__truediv__','__pow__','__rpow__','__eq__','__lt__','__sub__', '__and__'):
    for a in (4, 2.5, True):
        for b in (2.5, 3, True, 'x'):
            try: print(f, a, b, getattr(a, f)(b))
            except Exception as e: print(f, a, b, type(e).__name__, e)
