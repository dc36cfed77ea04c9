package wire

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
	ErrTooLong  = errors.New("message is longer than any of its kind")
	ErrBlock    = errors.New("block is empty or too large")
	ErrPreview  = errors.New("preview is of a parent that is not before it")
	ErrNotOffer = errors.New("vote beside a block is not a notarize vote")
)

// Message is what validators send each other: a [simplex.Vote], a
// [simplex.Certificate], or another of this package's structs. The table of kinds
// lists them all.
type Message any

// Offer is a leader's block with its notarize vote.
type Offer struct {
	Vote  simplex.Vote
	Block []byte
}

// Backfill answers a request with a block and the certificate that names it.
type Backfill struct {
	Certificate simplex.Certificate
	Block       []byte
}

// Request asks for the certificates and blocks of a round and later ones.
type Request struct{ Round beacon.Round }

// Answered ends the answer to a request, so that the next one can follow.
type Answered struct{ Round beacon.Round }

func appendAnswered(dst []byte, a Answered) []byte { return a.Round.Append(dst) }

func appendOffer(dst []byte, o Offer) []byte {
	return append(simplex.AppendVote(dst, o.Vote), o.Block...)
}

func appendBackfill(dst []byte, b Backfill) []byte {
	return append(simplex.AppendCertificate(dst, b.Certificate), b.Block...)
}

// EncodedBackfill returns the message of a [Backfill] whose certificate is encoded already,
// as archives and journals keep it.
func EncodedBackfill(certificate, block []byte) []byte {
	dst := append(make([]byte, 0, 1+len(certificate)+len(block)), TagBackfill)
	return append(append(dst, certificate...), block...)
}

func appendRequest(dst []byte, r Request) []byte { return r.Round.Append(dst) }

func decodeOffer(b []byte, l Limits) (Offer, error) {
	v, block, err := readNotarize(b)
	switch {
	case err != nil:
		return Offer{}, fmt.Errorf("offer: %w", err)
	case len(block) == 0 || len(block) > l.BlockBytesMax:
		return Offer{}, ErrBlock
	}
	return Offer{v, block}, nil
}

// readNotarize reads the vote that goes with a block or a part of one, which proposes it.
// The error is [ErrNotOffer] for another kind of vote.
func readNotarize(b []byte) (v simplex.Vote, rest []byte, err error) {
	v, rest, err = simplex.ReadVote(b)
	if err == nil && v.Kind != simplex.Notarize {
		err = ErrNotOffer
	}
	return v, rest, err
}

func decodeBackfill(b []byte, l Limits) (Backfill, error) {
	c, block, err := simplex.ReadCertificate(b)
	switch {
	case err != nil:
		return Backfill{}, fmt.Errorf("backfill: %w", err)
	case c.Kind == simplex.Nullify:
		return Backfill{}, attest.ErrKind
	case len(block) == 0 || len(block) > l.BlockBytesMax:
		return Backfill{}, ErrBlock
	}
	return Backfill{c, block}, nil
}

func decodeRequest(b []byte, _ Limits) (Request, error) {
	r, err := decodeRound(b)
	return Request{r}, err
}

func decodeAnswered(b []byte, _ Limits) (Answered, error) {
	r, err := decodeRound(b)
	return Answered{r}, err
}

func decodeRound(b []byte) (beacon.Round, error) {
	r, rest, err := attest.ReadRound(b)
	if err != nil {
		return r, fmt.Errorf("request: %w", err)
	}
	if len(rest) != 0 {
		return r, attest.ErrTrailing
	}
	return r, nil
}
