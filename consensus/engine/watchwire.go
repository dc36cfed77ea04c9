package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Tags of the two messages of the watch.
const (
	tagAsk    = 'q'
	tagAnswer = 'a'
)

// answerBytesMax is the most that an answer takes: a vote of each kind, and the
// certificate by which the peer entered its view.
const answerBytesMax = 1 + answerHeadBytes + int(simplex.Finalize)*simplex.VoteBytesMax + simplex.CertificateBytesMax

// answerHeadBytes are those before the votes: the question's instance and number, the
// other process's flag, instance and age, the age of the newest vote, and how many
// votes follow.
const answerHeadBytes = 8 + 4 + 1 + 8 + 4 + 4 + 1

// inquiry asks a peer what it has heard in the name of the sender.
type inquiry struct {
	instance uint64 // of the asking process
	number   uint32 // of the question, from 1
	posture  posture
}

// posture is what a process does with its votes.
type posture byte

const (
	listens posture = iota // it has started, and has not voted
	votes
	rests // it has voted, and is silent to ask again
)

func appendAsk(dst []byte, a inquiry) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagAsk), a.instance)
	dst = binary.BigEndian.AppendUint32(dst, a.number)
	return append(dst, byte(a.posture))
}

func decodeAsk(b []byte) (inquiry, error) {
	if len(b) != 13 || b[12] > byte(rests) {
		return inquiry{}, ErrMessage
	}
	return inquiry{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), posture(b[12])}, nil
}

// answer is what a peer has heard in the name of the one that asks. An answer
// without votes says that there were none.
type answer struct {
	instance uint64 // of the question
	number   uint32
	other    otherLife // of another process with the same key; zero: none
	// spoke is how long ago a vote in the asker's name came in, new or sent again.
	// Below 0: never.
	spoke time.Duration
	words []simplex.Vote // the newest of each kind, in order of kind
	// entered is the certificate by which the peer came to its view, so that nobody
	// can pretend to be further than a quorum is. Nil: it is where the chain begins,
	// or where its last life ended.
	entered *simplex.Certificate
}

// otherLife is a process that asked in a validator's name.
type otherLife struct {
	instance uint64 // 0: none
	posture  posture
	age      time.Duration // since it asked last
}

func appendAnswer(dst []byte, a answer) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, tagAnswer), a.instance)
	dst = binary.BigEndian.AppendUint32(dst, a.number)
	dst = binary.BigEndian.AppendUint64(append(dst, byte(a.other.posture)), a.other.instance)
	dst = binary.BigEndian.AppendUint32(dst, uint32(min(a.other.age.Milliseconds(), math.MaxUint32)))
	spoke := uint32(0) // never; else the age and one more
	if a.spoke >= 0 {
		spoke = uint32(min(a.spoke.Milliseconds()+1, math.MaxUint32))
	}
	dst = binary.BigEndian.AppendUint32(dst, spoke)
	dst = append(dst, byte(len(a.words)))
	for _, v := range a.words {
		dst = simplex.AppendVote(dst, v)
	}
	if a.entered != nil {
		dst = simplex.AppendCertificate(dst, *a.entered)
	}
	return dst
}

func decodeAnswer(b []byte) (answer, error) {
	if len(b) < answerHeadBytes {
		return answer{}, ErrMessage
	}
	a := answer{instance: binary.BigEndian.Uint64(b), number: binary.BigEndian.Uint32(b[8:])}
	a.other = otherLife{
		posture: posture(b[12]), instance: binary.BigEndian.Uint64(b[13:]),
		age: time.Duration(binary.BigEndian.Uint32(b[21:])) * time.Millisecond,
	}
	a.spoke = time.Duration(int64(binary.BigEndian.Uint32(b[25:]))-1) * time.Millisecond // below 0: never
	n, rest := int(b[29]), b[answerHeadBytes:]
	if b[12] > byte(rests) || n > int(simplex.Finalize) || a.other.instance == 0 && (a.other.posture != listens || a.other.age != 0) {
		return answer{}, ErrMessage
	}
	for range n {
		v, after, err := simplex.ReadVote(rest)
		if err != nil {
			return answer{}, fmt.Errorf("answer: %w", err)
		}
		if len(a.words) > 0 && a.words[len(a.words)-1].Kind >= v.Kind {
			return answer{}, fmt.Errorf("answer: %w", ErrMessage)
		}
		a.words, rest = append(a.words, v), after
	}
	if len(rest) == 0 {
		return a, nil
	}
	c, rest, err := simplex.ReadCertificate(rest)
	if err != nil {
		return answer{}, fmt.Errorf("answer: %w", err)
	}
	if len(rest) != 0 {
		return answer{}, attest.ErrTrailing
	}
	a.entered = &c
	return a, nil
}
