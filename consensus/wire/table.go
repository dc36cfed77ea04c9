package wire

import (
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Class is the stream that a message travels on, so that a block holds up no vote.
type Class uint8

// The classes. Zero is none.
const (
	ClassVotes Class = iota + 1
	ClassCertificates
	ClassBlocks
	ClassShards
	ClassFetch
)

// Tags, the first byte of every message. Votes and certificates stand on the wire as
// in the journal, and bring their own.
const (
	TagVote        = simplex.TagVote
	TagCertificate = simplex.TagCertificate
	TagOffer       = 'p'
	TagBackfill    = 'b'
	TagRequest     = 'r'
	TagAnswered    = 'd'
	TagPreview     = 'f'
	TagShardOffer  = 's'
	TagShardRelay  = 'h'
	TagAsk         = 'q'
	TagAnswer      = 'a'
)

// EnvelopeBytesMax is the most that a message adds to a block, and the most that a
// message without one takes.
const EnvelopeBytesMax = max(1+simplex.VoteBytesMax, 1+simplex.CertificateBytesMax, AnswerBytesMax)

// Limits are what a decoder must know of the chain.
type Limits struct {
	BlockBytesMax int
	Code          *shards.Code // nil: blocks travel whole, and shards are unknown messages
}

// Kind is a row of the table: one kind of message.
type Kind struct {
	Tag   byte
	Name  string
	Class Class
	// FixedBytesMax is the most that it takes besides a block or a part of one, which
	// HoldsBlock says that it carries.
	FixedBytesMax int
	HoldsBlock    bool

	is     func(Message) bool
	encode func([]byte, Message) []byte
	decode func([]byte, Limits) (Message, error)
}

// bytesMax is the largest encoding of the kind.
func (k *Kind) bytesMax(l Limits) int {
	if k.HoldsBlock {
		return k.FixedBytesMax + l.BlockBytesMax
	}
	return k.FixedBytesMax
}

// of fills a row's functions with those of its type. The codecs of M write and read
// what follows the tag.
func of[M Message](k Kind, encode func([]byte, M) []byte, decode func([]byte, Limits) (M, error)) Kind {
	k.is = func(m Message) bool { _, ok := m.(M); return ok }
	k.encode = func(dst []byte, m Message) []byte { return encode(append(dst, k.Tag), m.(M)) }
	k.decode = func(b []byte, l Limits) (Message, error) { return asMessage(decode(b[1:], l)) }
	return k
}

// own is the same for a type whose codecs write and read the tag as well.
func own[M Message](k Kind, encode func([]byte, M) []byte, decode func([]byte) (M, error)) Kind {
	k.is = func(m Message) bool { _, ok := m.(M); return ok }
	k.encode = func(dst []byte, m Message) []byte { return encode(dst, m.(M)) }
	k.decode = func(b []byte, _ Limits) (Message, error) { return asMessage(decode(b)) }
	return k
}

// asMessage turns a typed result into a message without a typed zero value beside an error.
func asMessage[M Message](m M, err error) (Message, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

const (
	roundBytesMax = 1 + 2*10 // a tag and two varints of 64 bits
	voteFixed     = 1 + simplex.VoteBytesMax
)

// kinds is every message of consensus. Engine, mesh, byzantine validators and
// simulators read it; a tag that is not in it has no class and cannot be sent.
var kinds = [...]Kind{
	own(Kind{Tag: TagVote, Name: "vote", Class: ClassVotes, FixedBytesMax: simplex.VoteBytesMax}, simplex.AppendVote, simplex.DecodeVote),
	own(Kind{Tag: TagCertificate, Name: "certificate", Class: ClassCertificates, FixedBytesMax: simplex.CertificateBytesMax}, simplex.AppendCertificate, simplex.DecodeCertificate),
	of(Kind{Tag: TagOffer, Name: "offer", Class: ClassBlocks, FixedBytesMax: voteFixed, HoldsBlock: true}, appendOffer, decodeOffer),
	of(Kind{Tag: TagBackfill, Name: "backfill", Class: ClassBlocks, FixedBytesMax: 1 + simplex.CertificateBytesMax, HoldsBlock: true}, appendBackfill, decodeBackfill),
	of(Kind{Tag: TagPreview, Name: "preview", Class: ClassBlocks, FixedBytesMax: 2 * roundBytesMax, HoldsBlock: true}, appendPreview, decodePreview),
	of(Kind{Tag: TagShardOffer, Name: "shard offer", Class: ClassShards, FixedBytesMax: EnvelopeBytesMax, HoldsBlock: true}, appendShardOffer, decodeShardOffer),
	of(Kind{Tag: TagShardRelay, Name: "shard relay", Class: ClassShards, FixedBytesMax: EnvelopeBytesMax, HoldsBlock: true}, AppendShardRelay, DecodeShardRelay),
	of(Kind{Tag: TagRequest, Name: "request", Class: ClassFetch, FixedBytesMax: roundBytesMax}, appendRequest, decodeRequest),
	of(Kind{Tag: TagAnswered, Name: "answered", Class: ClassCertificates, FixedBytesMax: roundBytesMax}, appendAnswered, decodeAnswered),
	of(Kind{Tag: TagAsk, Name: "ask", Class: ClassFetch, FixedBytesMax: askBytes}, appendAsk, decodeAsk),
	of(Kind{Tag: TagAnswer, Name: "answer", Class: ClassVotes, FixedBytesMax: AnswerBytesMax}, appendAnswer, DecodeAnswer),
}

// kindOf returns the row of a tag, or nil.
func kindOf(tag byte) *Kind {
	for i := range kinds {
		if kinds[i].Tag == tag {
			return &kinds[i]
		}
	}
	return nil
}

// Kinds returns the rows of the table.
func Kinds() []Kind { return append([]Kind(nil), kinds[:]...) }

// ClassOf returns the class of an encoded message; false for a tag that no kind has.
func ClassOf(msg []byte) (Class, bool) {
	if len(msg) == 0 {
		return 0, false
	}
	if k := kindOf(msg[0]); k != nil {
		return k.Class, true
	}
	return 0, false
}

// Append writes m, which is of a kind of the table, to dst.
func Append(dst []byte, m Message) []byte {
	for i := range kinds {
		if kinds[i].is(m) {
			return kinds[i].encode(dst, m)
		}
	}
	panic("consensus/wire: a message of no kind")
}

// Decode reads the whole of b. Blocks in the result share its memory. Of an
// error the sender is at fault, or speaks a newer version.
func Decode(b []byte, l Limits) (Message, error) {
	if len(b) == 0 {
		return nil, ErrMessage
	}
	k := kindOf(b[0])
	switch {
	case k == nil:
		return nil, ErrMessage
	case len(b) > k.bytesMax(l):
		return nil, ErrTooLong
	}
	return k.decode(b, l)
}
