package cbor

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Major types of RFC 8949 §3.1.
const (
	majorUint  = 0
	majorNint  = 1
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorTag   = 6
	majorOther = 7
)

// Initial bytes of the simple values and the float that the profile has.
const (
	byteFalse = 0xf4
	byteTrue  = 0xf5
	byteNull  = 0xf6
	byteFloat = 0xfb
)

// Limits bound what [Scan] accepts. A limit of zero allows nothing.
type Limits struct {
	Bytes int // longest input
	Depth int // deepest nesting of arrays and maps; a scalar has depth 0
	Items int // most items in all, keys and values counted one by one
}

// DefaultLimits returns limits that fit inside one transaction: 128 KiB
// (whitepaper §12.1), 32 levels, and one item per two bytes, so that a payload
// cannot cost much more to hold decoded than to send.
func DefaultLimits() Limits {
	return Limits{Bytes: 131_072, Depth: 32, Items: 65_536}
}

// Scan reports whether data is exactly one item of the profile within lim. It
// returns nil or a [*SyntaxError], and allocates nothing for input it accepts.
func Scan(data []byte, lim Limits) error {
	if len(data) > lim.Bytes {
		return &SyntaxError{Offset: 0, Err: ErrTooLong}
	}
	s := scanner{data: data, itemsLeft: lim.Items}
	end, err := s.item(0, lim.Depth)
	if err != nil {
		return err
	}
	if end != len(data) {
		return &SyntaxError{Offset: end, Err: ErrTrailing}
	}
	return nil
}

// scanner walks data. Its recursion is as deep as the depth limit allows.
type scanner struct {
	data      []byte
	itemsLeft int
	json      bool // nothing but values of JSON
}

// item checks the item at pos and returns where it ends. depthLeft is how many
// more arrays and maps may be opened.
func (s *scanner) item(pos, depthLeft int) (int, error) {
	if s.itemsLeft <= 0 {
		return 0, &SyntaxError{Offset: pos, Err: ErrTooManyItems}
	}
	s.itemsLeft--
	h, err := readHead(s.data, pos)
	if err != nil {
		return 0, err
	}
	if s.json {
		if err := h.checkJSON(s.data, pos); err != nil {
			return 0, err
		}
	}
	switch h.major {
	case majorBytes, majorText:
		str, err := h.str(s.data, pos)
		if err != nil {
			return 0, err
		}
		return h.end + len(str), nil
	case majorArray, majorMap:
		if depthLeft <= 0 {
			return 0, &SyntaxError{Offset: pos, Err: ErrDepth}
		}
		n, err := h.count(s.data, pos)
		if err != nil {
			return 0, err
		}
		if h.major == majorArray {
			return s.elements(h.end, n, depthLeft-1)
		}
		return s.pairs(h.end, n, depthLeft-1)
	default: // integers, simple values and floats are complete in their head
		return h.end, nil
	}
}

func (s *scanner) elements(pos, n, depthLeft int) (int, error) {
	var err error
	for range n {
		if pos, err = s.item(pos, depthLeft); err != nil {
			return 0, err
		}
	}
	return pos, nil
}

func (s *scanner) pairs(pos, n, depthLeft int) (int, error) {
	var prev []byte
	for i := range n {
		if s.json && pos < len(s.data) && s.data[pos]>>5 != majorText {
			return 0, &SyntaxError{Offset: pos, Err: ErrJSONType}
		}
		end, err := s.item(pos, depthLeft)
		if err != nil {
			return 0, err
		}
		key := s.data[pos:end]
		if i > 0 {
			if err := checkKeyOrder(prev, key, pos); err != nil {
				return 0, err
			}
		}
		prev = key
		if pos, err = s.item(end, depthLeft); err != nil {
			return 0, err
		}
	}
	return pos, nil
}

// checkKeyOrder compares two encoded map keys that follow each other.
func checkKeyOrder(prev, key []byte, pos int) error {
	switch c := bytes.Compare(prev, key); {
	case c == 0:
		return &SyntaxError{Offset: pos, Err: ErrDuplicateKey}
	case c > 0:
		return &SyntaxError{Offset: pos, Err: ErrKeyOrder}
	}
	return nil
}

// head is the start of an item: its major type, its argument, and where the
// head ends. For simple values and floats the argument holds the value bits.
type head struct {
	major byte
	arg   uint64
	end   int
}

// readHead reads the head at pos. It applies every rule of the profile that
// the head alone decides, so callers need only look at strings and counts.
func readHead(data []byte, pos int) (head, error) {
	if pos >= len(data) {
		return head{}, &SyntaxError{Offset: pos, Err: ErrTruncated}
	}
	first := data[pos]
	major, info := first>>5, first&0x1f
	if major == majorOther {
		return readOther(data, pos)
	}
	if info < 24 {
		if major == majorTag {
			return head{}, &SyntaxError{Offset: pos, Err: ErrTag}
		}
		return head{major: major, arg: uint64(info), end: pos + 1}, nil
	}
	if info == 31 {
		return head{}, &SyntaxError{Offset: pos, Err: ErrIndefinite}
	}
	if info > 27 {
		return head{}, &SyntaxError{Offset: pos, Err: ErrReserved}
	}
	arg, end, ok := readArg(data, pos+1, info)
	if !ok {
		return head{}, &SyntaxError{Offset: pos, Err: ErrTruncated}
	}
	if major == majorTag {
		return head{}, &SyntaxError{Offset: pos, Err: ErrTag}
	}
	if arg < smallestArg[info-24] {
		return head{}, &SyntaxError{Offset: pos, Err: ErrNotShortest}
	}
	return head{major: major, arg: arg, end: end}, nil
}

// smallestArg holds, for the additional information 24 to 27, the smallest
// argument that needs a form of that width.
var smallestArg = [4]uint64{24, 1 << 8, 1 << 16, 1 << 32}

// readArg reads the big-endian argument of 1, 2, 4 or 8 bytes that info
// announces.
func readArg(data []byte, pos int, info byte) (arg uint64, end int, ok bool) {
	width := 1 << (info - 24)
	if len(data)-pos < width {
		return 0, 0, false
	}
	switch info {
	case 24:
		arg = uint64(data[pos])
	case 25:
		arg = uint64(binary.BigEndian.Uint16(data[pos:]))
	case 26:
		arg = uint64(binary.BigEndian.Uint32(data[pos:]))
	default:
		arg = binary.BigEndian.Uint64(data[pos:])
	}
	return arg, pos + width, true
}

// readOther reads an item of major type 7.
func readOther(data []byte, pos int) (head, error) {
	reason := ErrSimple
	switch first := data[pos]; {
	case first == byteFalse || first == byteTrue || first == byteNull:
		return head{major: majorOther, arg: uint64(first), end: pos + 1}, nil
	case first == byteFloat:
		arg, end, ok := readArg(data, pos+1, 27)
		if !ok {
			reason = ErrTruncated
			break
		}
		if f := math.Float64frombits(arg); math.IsNaN(f) || math.IsInf(f, 0) {
			reason = ErrNotFinite
			break
		}
		return head{major: majorOther, arg: arg, end: end}, nil
	case first == 0xf9 || first == 0xfa:
		reason = ErrFloatWidth
	case first == 0xff:
		reason = ErrIndefinite // a break with nothing to end
	case first > byteFloat:
		reason = ErrReserved
	}
	return head{}, &SyntaxError{Offset: pos, Err: reason}
}

// str returns the content of a string whose head is h. The content aliases
// data.
func (h head) str(data []byte, pos int) ([]byte, error) {
	if h.arg > uint64(len(data)-h.end) {
		return nil, &SyntaxError{Offset: pos, Err: ErrTruncated}
	}
	str := data[h.end : h.end+int(h.arg) : h.end+int(h.arg)]
	if h.major == majorText && !utf8.Valid(str) {
		return nil, &SyntaxError{Offset: pos, Err: ErrUTF8}
	}
	return str, nil
}

// count returns the number of elements of an array, or of pairs of a map,
// after checking that the rest of the input could hold as many: an element
// takes at least one byte.
func (h head) count(data []byte, pos int) (int, error) {
	room := uint64(len(data) - h.end)
	if h.major == majorMap {
		room /= 2
	}
	if h.arg > room {
		return 0, &SyntaxError{Offset: pos, Err: ErrTruncated}
	}
	return int(h.arg), nil
}
