package p2p

import (
	"encoding/binary"
	"net/netip"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Tags of control messages.
const (
	tagHello   = 'h'
	tagMembers = 'm'
	tagRecords = 'a'
)

// Version is that of the messages which this release knows. Raise it by one with each
// release that adds a class, a message or a tag of one: peers of lower versions ignore
// what they do not know of it, and peers of the same version do not forgive it
// (docs/adr/0112).
const Version = 1

const (
	helloBytes      = 1 + 2 + 8 + 8
	recordsMax      = 32 // in one message
	addressBytesMax = 64
	recordBytesMax  = 2 + 8 + 1 + addressBytesMax + ed25519.SignatureSize
	controlBytesMax = 2 + recordsMax*recordBytesMax
)

// hello opens the control stream.
type hello struct {
	version      uint16 // of the messages it knows
	instance     uint64 // drawn by each process anew
	capabilities uint64 // bits, as Config.Capabilities
}

// appendHello writes tag ‖ version u16 ‖ instance u64 ‖ capabilities u64.
func appendHello(dst []byte, h hello) []byte {
	dst = binary.BigEndian.AppendUint16(append(dst, tagHello), h.version)
	dst = binary.BigEndian.AppendUint64(dst, h.instance)
	return binary.BigEndian.AppendUint64(dst, h.capabilities)
}

// decodeHello reads a greeting. One of a version above ours may go on behind what we
// know of it.
func decodeHello(b []byte, ours uint16) (hello, error) {
	if len(b) < helloBytes || b[0] != tagHello {
		return hello{}, ErrHello
	}
	h := hello{binary.BigEndian.Uint16(b[1:]), binary.BigEndian.Uint64(b[3:]), binary.BigEndian.Uint64(b[11:])}
	if h.version == 0 || h.version <= ours && len(b) != helloBytes {
		return hello{}, ErrHello
	}
	return h, nil
}

// record says where a member can be reached, signed by the member.
type record struct {
	member    int
	timestamp uint64 // Unix milliseconds; a newer record replaces an older one
	address   string
	signature [ed25519.SignatureSize]byte
}

// signedBytes binds the record to the chain and to the key.
func (r *record) signedBytes(genesis chain.Hash, key chain.PeerKey) []byte {
	b := append([]byte("cowboy-mesh-address-v1"), genesis[:]...)
	b = append(b, key[:]...)
	b = binary.BigEndian.AppendUint64(b, r.timestamp)
	return append(b, r.address...)
}

// appendRecords writes tag ‖ count ‖ for each: member u16 ‖ timestamp u64 ‖
// length u8 ‖ address ‖ signature.
func appendRecords(dst []byte, records []record) []byte {
	dst = append(dst, tagRecords, byte(len(records)))
	for i := range records {
		r := &records[i]
		dst = binary.BigEndian.AppendUint16(dst, uint16(r.member))
		dst = binary.BigEndian.AppendUint64(dst, r.timestamp)
		dst = append(append(dst, byte(len(r.address))), r.address...)
		dst = append(dst, r.signature[:]...)
	}
	return dst
}

// decodeRecords reads the whole of b for a committee of n.
func decodeRecords(b []byte, n int) ([]record, error) {
	if len(b) < 2 || b[0] != tagRecords || b[1] > recordsMax {
		return nil, ErrControl
	}
	records := make([]record, b[1])
	b = b[2:]
	for i := range records {
		r := &records[i]
		if len(b) < 2+8+1 {
			return nil, ErrControl
		}
		r.member = int(binary.BigEndian.Uint16(b))
		r.timestamp = binary.BigEndian.Uint64(b[2:])
		size := int(b[10])
		b = b[11:]
		if r.member >= n || size > addressBytesMax || len(b) < size+len(r.signature) {
			return nil, ErrControl
		}
		r.address = string(b[:size])
		b = b[size+copy(r.signature[:], b[size:]):]
		if checkRecordAddress(r.address) != nil {
			return nil, ErrControl
		}
	}
	if len(b) != 0 {
		return nil, ErrControl
	}
	return records, nil
}

// checkRecordAddress accepts what another node may tell us to dial: a number,
// never a name to look up.
func checkRecordAddress(address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if a.Port() == 0 || a.Addr().IsUnspecified() || a.Addr().IsMulticast() {
		return ErrControl
	}
	return nil
}

// members is a bit vector over the committee.
type members []byte

func newMembers(n int) members { return make(members, (n+7)/8) }

func (m members) set(i int)      { m[i/8] |= 1 << (i % 8) }
func (m members) has(i int) bool { return i/8 < len(m) && m[i/8]&(1<<(i%8)) != 0 }

func appendMembers(dst []byte, m members) []byte { return append(append(dst, tagMembers), m...) }

func decodeMembers(b []byte, n int) (members, error) {
	if len(b) != 1+(n+7)/8 || b[0] != tagMembers {
		return nil, ErrControl
	}
	return members(b[1:]), nil
}
