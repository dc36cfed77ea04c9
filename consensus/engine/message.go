package engine

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Errors of message decoding. The sender is at fault.
var (
	ErrMessage  = errors.New("unknown message")
	ErrBlock    = errors.New("block is empty or too large")
	ErrDraft    = errors.New("draft is of a parent that is not before it")
	ErrNotOffer = errors.New("vote beside a block is not a notarize vote")
)

// Tags of messages. Votes and certificates stand on the wire as package
// simplex encodes them and bring their own; those of the watch are beside it.
const (
	tagVote        = 'v'
	tagCertificate = 'c'
	tagOffer       = 'p'
	tagBackfill    = 'b'
	tagRequest     = 'r'
	tagAnswered    = 'd'
	tagDraft       = 'f' // a block foretold
)

// envelopeBytesMax is the most that a message adds to a block, and the most that a
// message without one takes.
const envelopeBytesMax = max(1+simplex.VoteBytesMax, 1+simplex.CertificateBytesMax, answerBytesMax)

// message is what validators send each other: a [simplex.Vote], a
// [simplex.Certificate], or one of the following.
type message any

// offer is a leader's block with its notarize vote.
type offer struct {
	vote  simplex.Vote
	block []byte
}

// backfill answers a request with a block and the certificate that names it.
type backfill struct {
	certificate simplex.Certificate
	block       []byte
}

// request asks for the certificates and blocks of a round and later ones.
type request struct{ round beacon.Round }

// answered ends the answer to a request, so that the next one can follow.
type answered struct{ round beacon.Round }

func appendAnswered(dst []byte, a answered) []byte {
	return a.round.Append(append(dst, tagAnswered))
}

func appendOffer(dst []byte, o offer) []byte {
	return append(simplex.AppendVote(append(dst, tagOffer), o.vote), o.block...)
}

func appendBackfill(dst []byte, b backfill) []byte {
	return append(simplex.AppendCertificate(append(dst, tagBackfill), b.certificate), b.block...)
}

func appendRequest(dst []byte, r request) []byte {
	return r.round.Append(append(dst, tagRequest))
}

// decodeMessage reads the whole of b. Blocks in the result share its memory.
func decodeMessage(b []byte, maxBlockBytes int) (message, error) {
	if len(b) == 0 {
		return nil, ErrMessage
	}
	switch b[0] {
	case tagVote:
		return simplex.DecodeVote(b)
	case tagCertificate:
		return simplex.DecodeCertificate(b)
	case tagOffer:
		v, block, err := simplex.ReadVote(b[1:])
		switch {
		case err != nil:
			return nil, fmt.Errorf("offer: %w", err)
		case v.Kind != simplex.Notarize:
			return nil, ErrNotOffer
		case len(block) == 0 || len(block) > maxBlockBytes:
			return nil, ErrBlock
		}
		return offer{v, block}, nil
	case tagBackfill:
		c, block, err := simplex.ReadCertificate(b[1:])
		switch {
		case err != nil:
			return nil, fmt.Errorf("backfill: %w", err)
		case c.Kind == simplex.Nullify:
			return nil, attest.ErrKind
		case len(block) == 0 || len(block) > maxBlockBytes:
			return nil, ErrBlock
		}
		return backfill{c, block}, nil
	case tagRequest, tagAnswered:
		r, rest, err := attest.ReadRound(b[1:])
		if err != nil {
			return nil, fmt.Errorf("request: %w", err)
		}
		if len(rest) != 0 {
			return nil, attest.ErrTrailing
		}
		if b[0] == tagAnswered {
			return answered{r}, nil
		}
		return request{r}, nil
	case tagAsk:
		return decodeAsk(b[1:])
	case tagAnswer:
		return decodeAnswer(b[1:])
	case tagDraft:
		return decodeDraft(b[1:], maxBlockBytes)
	}
	return nil, ErrMessage
}
