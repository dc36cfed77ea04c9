import re
def show(a): return [getattr(x, '__name__', x) for x in a]
def t(f, *a, **k):
    try:
        print(getattr(f, '__name__', '?'), show(a), k, '->', f(*a, **k))
    except Exception as e:
        print(getattr(f, '__name__', '?'), show(a), k, '!!', type(e).__name__, e)
print(repr(re.I), str(re.I), f'{re.I}', repr(re.I | re.M), repr(re.RegexFlag(0)), repr(re.I | 4096), repr(~re.I), re.I & 2, re.I | 2, re.I.name, re.I.value, re.I == 2, re.NOFLAG, re.RegexFlag(6), '%d' % re.I, re.I in (re.I | re.M), bool(re.NOFLAG), repr(re.I ^ re.M), repr(-re.I), repr(re.I + 1), repr(re.T), repr(re.ASCII | re.LOCALE | re.UNICODE | re.DOTALL | re.VERBOSE | re.DEBUG | re.TEMPLATE), repr(re.RegexFlag(1024)))
p = re.compile('a(?P<x>b)?', re.I)
print(p, p.flags, type(p.flags), p.groups, p.groupindex, p.pattern, repr(re.compile(b'x', re.A | re.M)), repr(re.compile('a' * 300)), repr(re.compile('a', re.I | re.M | re.S | re.X | re.A)), p == re.compile('a(?P<x>b)?', re.I), hash(p) == hash(p), re.compile('(?i)a'), re.compile('(?im)a'))
m = p.match('ab')
print(m, m.groups(), m.groupdict(), m.regs, m.lastindex, m.lastgroup, m.pos, m.endpos, m.re is p, m.string, m['x'], m[0], m.span('x'), repr(re.match('.*', 'a' * 80)))
t(m.group, 'y'); t(m.group, 5); t(m.group, -1); t(m.start, 7); t(m.group, 0, 1); t(m.group); t(lambda: m['y']); t(m.expand, r'\1-\g<x>'); t(m.expand, r'\2'); t(m.group, 1.0); t(m.groups, 5); t(m.groups, default=5); t(m.end); t(m.start, 'x'); t(m.span); t(p.match('a').groups, 'dd'); t(p.match('a').groupdict, 0); t(p.match('a').span, 1)
t(re.match, 'a', b'a'); t(re.match, b'a', 'a'); t(re.match, 'a', 5); t(re.match, 5, 'a'); t(re.compile, p, re.I); t(re.compile, p); t(re.match, p, 'a', re.I)
for bad in ('(', 'a)', '[', '*a', 'a**', '(?P<1>a)', '(?<=a*)b', '(?P=x)', '\\', '(?z)', 'a{2,1}', '[z-a]', '(?P<a>x)(?P<a>y)', '\\8', '(?:a', '[[:alpha:', '(?(1)a|b|c)', 'x\n(', '(?i', 'a(?i)b'):
    t(re.compile, bad)
t(re.sub, 'a', 5, 'a'); t(re.sub, 'a', 'b', 'aaa', 2); t(re.sub, 'a', lambda m: 5, 'aaa'); t(re.sub, 'a', lambda m: '[%s]' % m[0], 'xaya'); t(re.subn, 'a', 'b', 'aaa', count=1); t(re.sub, 'a', b'x', 'a'); t(re.sub, 'z', 'q', 'abc'); t(re.subn, b'a', b'bb', b'xaxa'); t(re.sub, '(a)(b)?', r'[\2\1]', 'abaab'); t(re.sub, 'a*', '-', 'baac'); t(re.sub, '', '-', 'abc'); t(re.sub, 'x', r'\n\t\\', 'x'); t(re.sub, '(?P<n>a)', r'\g<n>\g<1>\g<0>', 'a'); t(re.sub, 'é', 'ü', 'éaé'); t(re.sub, 'a', lambda m: None, 'xay')
t(re.sub, 'a', '\\', 'a'); t(re.sub, 'a', '\\q', 'a'); t(re.sub, 'a', r'\g<x>', 'a'); t(re.sub, 'a', r'\1', 'a'); t(re.sub, 'a', r'\g<', 'a')
t(re.split, '(,)', 'a,b,c', 1); t(re.findall, '(a)(b)?', 'abaa'); t(re.findall, 'a', 'bab'); t(re.findall, '(a)', 'bab'); t(re.escape, 'a.b[c]\n-'); t(re.escape, b'a.b'); t(re.escape, 5); t(re.split, 'x*', 'axbc'); t(re.split, r'\W+', 'Words, words, words.'); t(re.split, '(x)|(y)', 'axbyc'); t(re.split, ',', 'abc'); t(re.purge); t(re.findall, r'\w+', 'äb çd e_f 1'); t(re.findall, r'(?a)\w+', 'äb çd'); t(re.findall, rb'\w', b'ab c'); t(re.findall, '', 'ab'); t(re.findall, 'a', 'é' * 3 + 'a')
t(p.match, 'ab', 1); t(p.match, string='ab', pos=0, endpos=1); t(p.fullmatch, 'ab'); t(p.search, 'xxab', 5); t(p.findall, 'ab ab', endpos=3); t(p.match); t(p.match, 'a', 'b'); t(p.sub, 'x', 'abab'); t(p.search, 'xxab', -3); t(p.search, 'ééab'); t(p.split, 'xabyaz', 1)
print([m.span() for m in re.finditer('a|', 'ba')], [m.group() for m in p.finditer('abAab', 1)])
try: re.compile('(a')
except re.error as e: print(e.msg, e.pattern, e.pos, e.lineno, e.colno, e.args, repr(e), re.error.__mro__, re.error.__module__)
e = re.error('x'); print(e.pos, e.pattern, e.lineno, e.args, str(e)); e = re.error('x', 'ab\ncd', 4); print(e, e.lineno, e.colno)
print(type(p), type(m), re.Pattern[str], bool(m), isinstance(p, re.Pattern), isinstance(m, re.Match))
t(re.Pattern); t(re.Match)
tok = re.compile(r'\s*(?:(?P<num>\d+)|(?P<op>[-+*/()]))')
pos, out = 0, []
while pos < len('12 + (3*45)'):
    m = tok.match('12 + (3*45)', pos); out.append((m.lastgroup, m.group(m.lastgroup))); pos = m.end()
print(out)
print(re.search(r'(?<=abc)def', 'abcdef'), re.search(r'(?<!x)y', 'xyay').span(), re.match(r'(a)?b(?(1)c|d)', 'abc'), re.match(r'(?P<q>[\'"]).*?(?P=q)', '"a"b"'), re.search(r'\bfoo\b', 'a foo b').start(), re.match('(?s).', '\n'), re.match('.', '\n'), re.findall('(?m)^.', 'a\nb'), re.match(r'(?x) a  b # c', 'ab'), re.fullmatch('a++b', 'aab'), re.match('(?>a*)a', 'aaa'), re.match('ß', 'SS', re.I))
t(lambda: p + 1); t(lambda: m.foo); t(lambda: len(p)); t(lambda: p < p)
