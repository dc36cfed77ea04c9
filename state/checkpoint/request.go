package checkpoint

import (
	"bytes"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Kind says what a request is for.
type Kind byte

// The kinds of request: the chunk of accounts that covers a key, the chunk of
// one account's storage that covers a hashed key, the list of a job.
const (
	AskAccounts Kind = tagAccounts
	AskSlots    Kind = tagSlots
	AskList     Kind = tagList
)

// Request asks for one chunk.
type Request struct {
	Kind    Kind
	Account chain.Hash // of AskSlots
	From    chain.Hash // key to be covered; of AskList, the job
}

// RequestBytes is the size of an encoded request.
const RequestBytes = 1 + 2*len(chain.Hash{})

// Append writes kind ‖ account ‖ from.
func (q Request) Append(dst []byte) []byte {
	return append(append(append(dst, byte(q.Kind)), q.Account[:]...), q.From[:]...)
}

// DecodeRequest reads what Append wrote.
func DecodeRequest(b []byte) (Request, error) {
	r := &reader{b: b}
	q := Request{Kind: Kind(r.u8()), Account: r.readHash(), From: r.readHash()}
	switch {
	case r.end() != nil:
		return Request{}, r.end()
	case q.Kind != AskSlots && q.Account != (chain.Hash{}), q.Kind != AskAccounts && q.Kind != AskSlots && q.Kind != AskList:
		return Request{}, fmt.Errorf("%w: request", ErrEncoding)
	}
	return q, nil
}

// keyBytes is how much of a chunk has to be read to place it.
const keyBytes = RequestBytes

// keyOf returns the request that a chunk with the given beginning answers best,
// or fails for what is no chunk.
func keyOf(b []byte) (Request, error) {
	r := &reader{b: b}
	q := Request{Kind: Kind(r.u8())}
	switch q.Kind {
	case AskAccounts, AskList:
		q.From = r.readHash()
	case AskSlots:
		q.Account, q.From = r.readHash(), r.readHash()
	default:
		r.bad = true
	}
	if r.bad {
		return Request{}, fmt.Errorf("%w: beginning of a chunk", ErrEncoding)
	}
	return q, nil
}

// compare orders requests as an index does: by kind, account, key.
func (q Request) compare(other Request) int {
	return bytes.Compare(q.Append(nil), other.Append(nil))
}
