import string
from string import Template, Formatter
def t(f, *a, **k):
    try:
        print(repr(f(*a, **k)))
    except Exception as e:
        print(type(e).__name__, e)
for n in string.__all__:
    v = getattr(string, n)
    print(n, repr(v) if isinstance(v, str) else v.__name__)
for s in ['', 'abc', ' aBc  dEf ', 'abc-def DEF', '\tx\ny', 'ABC', '\xe9a \u0130b']:
    t(string.capwords, s); t(string.capwords, s, '-'); t(string.capwords, s, sep=' ')
t(string.capwords, 5); t(string.capwords, 'a', ''); t(string.capwords)
for text in ['', 'plain', '$a', '${a}', '$$', '$', 'x $', '$a$b', '$ab', '${ab}c', '$1', '${1}', '${a', '$a.b', '$A $a', '$missing', 'l1\nl2 $ x', 'l1\nl2\n$', '$\xe9', '$_a', '${a}$$${b}', '$a\xe9', '\n$?', '$$$a', '$İ', '$ſ']:
    s = Template(text)
    t(s.substitute, {'a': 1, 'b': [2], 'ab': 'AB', 'A': 'up', '_a': 0}); t(s.safe_substitute, {'a': 1}); t(s.substitute, a=5, b=6); t(s.substitute, {'a': 1}, a=2)
    t(s.safe_substitute, {'b': 1}, a=2); t(s.is_valid); t(s.get_identifiers); t(s.safe_substitute); t(s.substitute)
    print(s.template == text)
class P(Template):
    delimiter = '@'
    idpattern = '[a-z]+'
for text in ['@a $a', '@@', '@A', '@{a}', '@1']: t(P(text).safe_substitute, a=1); t(P(text).is_valid)
class D(Template):
    idpattern = r'[a-z][a-z0-9]*'
    braceidpattern = r'[a-z0-9 .]+'
    flags = 0
t(D('$a ${b 1.2} $B').safe_substitute, {'a': 1, 'b 1.2': 2}); t(D('${B}').substitute, B=1); t(D('$a$b').get_identifiers)
class Q(Template):
    pattern = r'(?P<escaped>%%)|%(?P<named>[a-z]+)%|(?P<braced>never)|(?P<invalid>%)'
t(Q('%a% %% %').safe_substitute, a=1); t(Q('%a% %').substitute, a=1); t(Q('x%a%').substitute, a=1)
class R(Template):
    pattern = r'(?P<escaped>!!)|!(?P<named>[a-z]+)|(?P<braced>\0)|(?P<invalid>!\?)|(?P<odd>!)'
t(R('!').get_identifiers)
for call in (R('!').substitute, R('!').safe_substitute, R('!').is_valid):
    try: call()
    except ValueError as e: print(e.args[0])
try:
    class Bad(Template): pattern = '('
except Exception as e: print(type(e).__name__)
try:
    class Few(Template): pattern = 'a(?P<named>b)'
    Few('ab').substitute(b=1)
except Exception as e: print(type(e).__name__, e)
class Meta(Template):
    def __init_subclass__(cls, **k): super().__init_subclass__(); cls.seen = sorted(k)
class Sub(Meta, x=1): delimiter = '#'
print(Sub.seen, Sub('#a').substitute(a=3), Sub('# a').safe_substitute())
t(Template(5).substitute); t(Template('$self $mapping').substitute, self=1, mapping=2); t(Template('$a').substitute, {}, {}); t(Template('$a').substitute, [1])
f = Formatter()
class O:
    def __init__(self): self.x, self.y = 3, {'k': [4, 5]}
    def __getitem__(self, i): return ('item', i)
    def __repr__(self): return 'O()'
    def __format__(self, spec): return 'O<%s>' % spec
args = (1, 'two', O(), 2.5)
for text in ['', 'plain', '{}', '{} {}', '{0} {1}', '{1} {0}', '{} {0}', '{0} {}', '{{}}', '{', '}', '{0', '{0!', '{0!r', '{0!x}', '{0!rx}', '{0:{1}', '{1:>10}', '{1:{w}}', '{1:>{w}}', '{1:{0}{w}}',
             '{a}', '{a.x}', '{a.y[k]}', '{a.y[k][1]}', '{a[0]}', '{a[zz]}', '{a.}', '{a[}', '{a[]}', '{a..x}', '{a]}', '{a[0]x}', '{2:abc}', '{2!r:>3}' if 0 else '', '{1!r:>8}', '{1!s}', '{1!a}', '{9}', '{zz}',
             '{a.x:{w}{{}}}', '{3:{3:{3:{3}}}}', '{:{}}', '{:{}} {}', '{0:{1:{2}}}', '{99999999999999999999}', '{a.x!r}', '{}{{{}}}', '{0[0}', '{-1}', '{ 0}', '{0 }', '{a!}', '{a!:}', '{0:}', '{0!s:}']:
    t(f.format, text, *args, a=O(), w=6); t(text.format, *args, a=O(), w=6)
    t(lambda: list(f.parse(text)))
t(f.vformat, '{0}{a}', [1], {'a': 2}); t(f.vformat, '{0}', (), {}); t(f.format); t(f.format, 5); t(f.format, '{}'); t(f.parse, 5)
for n in ['', 'a', '0', '0.a', 'a[0].b', '[0]', '.a', 'a[b]c', '00', '1a', 'a.0', 'a[0', 'a.', '5[x][7]']:
    t(lambda: f.get_field(n, (O(), 1), {'a': O()}))
class Named(Formatter):
    def get_value(self, key, args, kw):
        if isinstance(key, str): return kw.get(key, '<%s>' % key)
        return super().get_value(key, args, kw)
    def check_unused_args(self, used, args, kw):
        unused = [i for i in range(len(args)) if i not in used] + [k for k in kw if k not in used]
        if unused: raise ValueError('unused ' + str(unused))
    def convert_field(self, value, conversion):
        return repr(value) * 2 if conversion == 'd' else super().convert_field(value, conversion)
    def format_field(self, value, spec):
        return '[%s|%s]' % (value, spec)
n = Named()
t(n.format, '{} {x} {y!d:abc}', 1, x=2, y='z'); t(n.format, '{}', 1, 2); t(n.format, 'x', k=1); t(n.format, '{0.real}', 5); t(n.format, '{q!z}')
class Parts(Formatter):
    def parse(self, s): return [('lit', 'a', '', None), ('x', None, None, None)]
t(Parts().format, 'zzz', a=1)
