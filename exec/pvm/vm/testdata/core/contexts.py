try:
    try:
        raise ValueError('a')
    except ValueError as e:
        a = e
        try:
            raise KeyError('b')
        except KeyError as f:
            f.__context__ = None
            a.__context__ = f
            f.__context__ = a
            raise TypeError('c')
except TypeError as t:
    print('ok', repr(t.__context__))
