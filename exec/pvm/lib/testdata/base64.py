import base64
Error = base64.binascii.Error
def t(f, *a, **k):
    try:
        print(f.__name__, a, k, f(*a, **k))
    except Exception as e:
        print(f.__name__, a, k, type(e).__name__, isinstance(e, Error), e)
print(Error.__mro__, Error.__module__, base64.binascii.__name__)
data = [b'', b'a', b'ab', b'abc', b'abcd', b'abcde', b'\0' * 4, b'\0' * 5, b'    ', b'     ', bytes(range(256)), bytearray(b'xyz\xff\xfe')]
for d in data:
    for f in [base64.b64encode, base64.standard_b64encode, base64.urlsafe_b64encode, base64.b32encode, base64.b32hexencode,
              base64.b16encode, base64.a85encode, base64.b85encode, base64.encodebytes]:
        t(f, d)
    t(base64.b64encode, d, b'*@'); t(base64.b64encode, d, altchars=bytearray(b'-_')); t(base64.b85encode, d, True)
    for k in [dict(adobe=True), dict(pad=True), dict(foldspaces=True), dict(wrapcol=1), dict(wrapcol=7), dict(wrapcol=7, adobe=True),
              dict(wrapcol=1, adobe=True), dict(wrapcol=-3), dict(wrapcol=10**30), dict(wrapcol=1.5), dict(pad=1, foldspaces=[1], wrapcol=True)]:
        t(base64.a85encode, d, **k)
print(base64.encodebytes(b'x' * 200))
for bad in ['text', 5, None, [1], object]:
    for f in [base64.b64encode, base64.standard_b64encode, base64.urlsafe_b64encode, base64.b32encode, base64.b32hexencode,
              base64.b16encode, base64.a85encode, base64.b85encode, base64.encodebytes, base64.decodebytes]:
        t(f, bad)
    if bad != 'text':
        for f in [base64.b64decode, base64.urlsafe_b64decode, base64.b32decode, base64.b16decode, base64.a85decode, base64.b85decode]:
            t(f, bad)
texts = ['', '=', '====', 'a', 'ab', 'abc', 'abcd', 'ab=', 'ab==', 'abc=', 'a===', 'abcd=', 'abcd====', '=abcd', 'ab=c', 'ab==ab', 'ab=\n=', 'AA=A',
         'AB=C=', 'abcde', 'YW\nJj', 'YW Jj', 'YW-_', 'YW+/', 'YR==', '\xff', 'YW@*', 'ab\0c']
for s in texts:
    for v in [s] + ([s.encode()] if s != '\xff' else [b'\xff', b'ab\xffcd']):
        t(base64.b64decode, v); t(base64.b64decode, v, validate=True); t(base64.b64decode, v, b'@*', validate=True)
        t(base64.b64decode, v, '-_'); t(base64.urlsafe_b64decode, v); t(base64.standard_b64decode, v)
for v in [2, 0, True, 'x', None, [], 1.0]:
    t(base64.b64decode, b'Y!W=', None, v)
for alt in [b'', b'a', b'abc', 'ab', 'a', 5, [1, 2], None, b'++', b'aa']:
    t(base64.b64encode, b'\xfb\xff', alt); t(base64.b64decode, b'++//', alt)
for s in ['', 'ME======', 'MFRA====', 'MFRGG===', 'MFRGGZA=', 'MFRGGZDF', 'me======', 'M', 'MFRGG=', 'MFRGG=====', '========', 'M=======',
          'MFRGGZ==', 'MFRGG=A=', 'MFRGG01=', 'MF1GG0A=', 'MFRGGZDFMFRGGZDF', 'MFRGGZDFM=======', 'MZ======', 'MFRGGZD8', '\xff' * 8, 'MFRGGZDFME======']:
    t(base64.b32decode, s); t(base64.b32decode, s, True); t(base64.b32decode, s, casefold=1, map01='L'); t(base64.b32decode, s, map01=b'I')
    t(base64.b32hexdecode, s); t(base64.b32hexdecode, s, True)
t(base64.b32decode, 'AAAAAAAA', False, b'xx'); t(base64.b32decode, 'AAAAAAAA', False, 5); t(base64.b32decode, b'0AAAAAA1', False, b'L')
for s in ['', '00', 'AF', 'af', 'A', 'AFA', 'G0', 'A\n', b'0a', bytearray(b'0A'), '\xff\xff']:
    t(base64.b16decode, s); t(base64.b16decode, s, True)
for s in ['', 'z', 'y', 'zz', '!', '!!', '!!!', '!!!!', '!!!!!', 's8W-!', 's8W-"', 'uuuuu', 'u', 'uuuu', '!z', '!y', '  ', '! !\n!\t!\v!\r', 'v', 'x', '\0', '87cURD_*#TDfTZ)',
          '<~~>', '<~87cURD]i,"Ebo80~>', '87cURD]i,"Ebo80~>', '<~', '~>', '<~z~>', 'az', '{']:
    t(base64.a85decode, s); t(base64.a85decode, s, adobe=True); t(base64.a85decode, s, foldspaces=True)
    t(base64.a85decode, s, ignorechars=b''); t(base64.a85decode, s, ignorechars=[0x76, 0x78]); t(base64.a85decode, s, ignorechars='v')
t(base64.a85decode, b'\xff'); t(base64.a85decode, b'!\xffv', ignorechars=bytearray(b'\xff'))
for s in ['', '0', '00', '000', '0000', '00000', '|NsC0', '|NsC1', '~~~~~', '~', '"', '0000"', '00000 ', 'Xk~0{Zv', b'\xff', bytearray(b'Xk~0{Zv')]:
    t(base64.b85decode, s)
class Sub(bytes): pass
t(base64.b64encode, Sub(b'q')); t(base64.b64decode, Sub(b'cQ==')); t(base64.b32decode, Sub(b'OE======'))
class Reader:
    def __init__(self, data): self.data = data
    def read(self, n):
        n = min(n, 20)
        out, self.data = self.data[:n], self.data[n:]
        return out
    def readline(self):
        i = self.data.find(b'\n') + 1 or len(self.data)
        out, self.data = self.data[:i], self.data[i:]
        return out
class Writer:
    def __init__(self): self.data = b''
    def write(self, s): self.data += s
w = Writer(); base64.encode(Reader(b'some bytes ' * 20), w); print(w.data)
v = Writer(); base64.decode(Reader(w.data), v); print(v.data)
for call in [lambda: base64.b64encode(), lambda: base64.b64encode(b'', b'', b''), lambda: base64.b32hexdecode(b'', 1, 2),
             lambda: base64.a85encode(b'', True), lambda: base64.b64decode(b'', alt=1), lambda: base64.b85decode()]:
    try: call()
    except TypeError as e: print(e)
print(sorted(base64.__all__), base64.MAXBINSIZE, base64.MAXLINESIZE, base64.bytes_types)
