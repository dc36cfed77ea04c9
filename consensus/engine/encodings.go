package engine

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// encodings keeps the newest blocks as they are sent, so that a block which many ask
// for is copied once and waits once in all their queues. It is used off the loop.
type encodings struct {
	mu    sync.Mutex // guards all below
	by    map[encodingKey][]byte
	order []encodingKey // oldest first
	bytes int
}

// encodingKey names a block and the certificate that goes with it.
type encodingKey chain.Hash

// withBlock returns the message with a certificate and its block. Both must not change. The
// certificate names the block by its digest and its view, so that it names the whole.
func (e *encodings) withBlock(certificate, block []byte) []byte {
	key := encodingKey(keccak.Sum256(certificate))
	e.mu.Lock()
	msg := e.by[key]
	e.mu.Unlock()
	if msg != nil {
		return msg
	}
	msg = wire.EncodedBackfill(certificate, block)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by[key] != nil {
		return e.by[key]
	}
	if e.by == nil {
		e.by = map[encodingKey][]byte{}
	}
	e.by[key], e.order, e.bytes = msg, append(e.order, key), e.bytes+len(msg)
	for e.bytes > encodedBytesMax && len(e.order) > 1 {
		e.bytes -= len(e.by[e.order[0]])
		delete(e.by, e.order[0])
		e.order = e.order[1:]
	}
	return msg
}
