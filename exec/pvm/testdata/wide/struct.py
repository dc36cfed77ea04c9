# Numbers that are sizes of structures: beyond 32 bits, where a word of
# 32 bits would cut them, and beyond 64.
import struct
def show(name, f):
    for n in (2**31, 2**32, 2**32 + 3, 2**63 - 1, 2**64 + 1, -2**32 + 1):
        try:
            r = f(n)
        except Exception as e:
            r = type(e).__name__ + ": " + str(e)
        print(name, n, r)
show('struct.calcsize("%dx" % abs(n))', lambda n: struct.calcsize("%dx" % abs(n)))
show('struct.calcsize("%dq" % abs(n))', lambda n: struct.calcsize("%dq" % abs(n)))
show('struct.calcsize("q%dxq" % abs(n))', lambda n: struct.calcsize("q%dxq" % abs(n)))
show('struct.unpack("%dx" % abs(n), b"")', lambda n: struct.unpack("%dx" % abs(n), b""))
show('struct.pack_into("b", bytearray(8), n, 1)', lambda n: struct.pack_into("b", bytearray(8), n, 1))
show('struct.unpack_from("q", bytearray(8), n)', lambda n: struct.unpack_from("q", bytearray(8), n))
show('struct.pack("q", n)', lambda n: struct.pack("q", n))
