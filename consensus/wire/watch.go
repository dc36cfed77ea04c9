package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// AnswerBytesMax is the most that an answer takes: a vote of each kind, and the
// certificate by which the peer entered its view.
const AnswerBytesMax = 1 + answerHeadBytes + int(simplex.Finalize)*simplex.VoteBytesMax + simplex.CertificateBytesMax

// askBytes is what a question takes: the tag, its instance and number, and the posture.
const askBytes = 1 + 8 + 4 + 1

// answerHeadBytes are those before the votes: the question's instance and number, the
// other process's flag, instance and age, the age of the newest vote, and how many
// votes follow.
const answerHeadBytes = 8 + 4 + 1 + 8 + 4 + 4 + 1

// Ask asks a peer what it has heard in the name of the sender.
type Ask struct {
	Instance uint64 // of the asking process
	Number   uint32 // of the question, from 1
	Posture  Posture
}

// Posture is what a process does with its votes.
type Posture byte

const (
	Listens Posture = iota // it has started, and has not voted
	Votes
	Rests // it has voted, and is silent to ask again
)

// String says what the process does, for the log.
func (p Posture) String() string {
	return [...]string{"starts as well", "votes", "has voted and asks again"}[p]
}

func appendAsk(dst []byte, a Ask) []byte {
	dst = binary.BigEndian.AppendUint64(dst, a.Instance)
	dst = binary.BigEndian.AppendUint32(dst, a.Number)
	return append(dst, byte(a.Posture))
}

func decodeAsk(b []byte, _ Limits) (Ask, error) {
	if len(b) != askBytes-1 || b[12] > byte(Rests) {
		return Ask{}, ErrMessage
	}
	return Ask{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), Posture(b[12])}, nil
}

// Answer is what a peer has heard in the name of the one that asks. An answer
// without votes says that there were none.
type Answer struct {
	Instance uint64 // of the question
	Number   uint32
	Other    OtherLife // of another process with the same key; zero: none
	// spoke is how long ago a vote in the asker's name came in, new or sent again.
	// Below 0: never.
	Spoke time.Duration
	Votes []simplex.Vote // the newest of each kind, in order of kind
	// entered is the certificate by which the peer came to its view, so that nobody
	// can pretend to be further than a quorum is. Nil: it is where the chain begins,
	// or where its last life ended.
	Entered *simplex.Certificate
}

// OtherLife is a process that asked in a validator's name.
type OtherLife struct {
	Instance uint64 // 0: none
	Posture  Posture
	Age      time.Duration // since it asked last
}

func appendAnswer(dst []byte, a Answer) []byte {
	dst = binary.BigEndian.AppendUint64(dst, a.Instance)
	dst = binary.BigEndian.AppendUint32(dst, a.Number)
	dst = binary.BigEndian.AppendUint64(append(dst, byte(a.Other.Posture)), a.Other.Instance)
	dst = binary.BigEndian.AppendUint32(dst, uint32(min(a.Other.Age.Milliseconds(), math.MaxUint32)))
	spoke := uint32(0) // never; else the age and one more
	if a.Spoke >= 0 {
		spoke = uint32(min(a.Spoke.Milliseconds()+1, math.MaxUint32))
	}
	dst = binary.BigEndian.AppendUint32(dst, spoke)
	dst = append(dst, byte(len(a.Votes)))
	for _, v := range a.Votes {
		dst = simplex.AppendVote(dst, v)
	}
	if a.Entered != nil {
		dst = simplex.AppendCertificate(dst, *a.Entered)
	}
	return dst
}

func DecodeAnswer(b []byte, _ Limits) (Answer, error) {
	if len(b) < answerHeadBytes {
		return Answer{}, ErrMessage
	}
	a := Answer{Instance: binary.BigEndian.Uint64(b), Number: binary.BigEndian.Uint32(b[8:])}
	a.Other = OtherLife{
		Posture: Posture(b[12]), Instance: binary.BigEndian.Uint64(b[13:]),
		Age: time.Duration(binary.BigEndian.Uint32(b[21:])) * time.Millisecond,
	}
	a.Spoke = time.Duration(int64(binary.BigEndian.Uint32(b[25:]))-1) * time.Millisecond // below 0: never
	n, rest := int(b[29]), b[answerHeadBytes:]
	if b[12] > byte(Rests) || n > int(simplex.Finalize) || a.Other.Instance == 0 && (a.Other.Posture != Listens || a.Other.Age != 0) {
		return Answer{}, ErrMessage
	}
	for range n {
		v, after, err := simplex.ReadVote(rest)
		if err != nil {
			return Answer{}, fmt.Errorf("answer: %w", err)
		}
		if len(a.Votes) > 0 && a.Votes[len(a.Votes)-1].Kind >= v.Kind {
			return Answer{}, fmt.Errorf("answer: %w", ErrMessage)
		}
		a.Votes, rest = append(a.Votes, v), after
	}
	if len(rest) == 0 {
		return a, nil
	}
	c, rest, err := simplex.ReadCertificate(rest)
	if err != nil {
		return Answer{}, fmt.Errorf("answer: %w", err)
	}
	if len(rest) != 0 {
		return Answer{}, attest.ErrTrailing
	}
	a.Entered = &c
	return a, nil
}
