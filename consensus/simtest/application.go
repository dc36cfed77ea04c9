package simtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// application is a chain whose blocks hold their place and nothing else. What
// apply did is durable; the rest is lost by restart.
type application struct {
	genesis  chain.Hash
	code     *shards.Code // nil: blocks have no body and travel whole
	chain    []applied    // durable; height is index + 1
	executed map[chain.Hash]standing
	queue    []simplex.Finalized // being made durable
}

// standing is where a block stands: its height, and its time as its proposer
// had it.
type standing struct {
	height uint64
	at     time.Duration
}

// applied is a block as a store keeps it.
type applied struct {
	own  simplex.Certificate // of this very block
	body []byte
}

func (a *application) restart() {
	a.queue = nil
	f := a.floor()
	a.executed = map[chain.Hash]standing{f.Payload: {height: uint64(len(a.chain))}}
	if n := len(a.chain); n > 0 {
		a.executed[f.Payload] = standing{uint64(n), timeOf(a.chain[n-1].body)}
	}
}

// undelivered counts the final blocks that are not durable yet.
func (a *application) undelivered() (n int) {
	for _, f := range a.queue {
		n += len(f.Chain)
	}
	return n
}

// floor returns what package engine makes of the application's last block: the
// seed comes with its own certificate, which the store keeps.
func (a *application) floor() simplex.Floor {
	if len(a.chain) == 0 {
		return simplex.Floor{Payload: a.genesis}
	}
	own := a.chain[len(a.chain)-1].own
	return simplex.Floor{View: own.Proposal.Round.View, Payload: own.Proposal.Payload, Seed: own.Seed}
}

// from returns up to limit stored blocks of view v and later ones.
func (a *application) from(v chain.View, limit int) []applied {
	i := sort.Search(len(a.chain), func(i int) bool { return a.chain[i].own.Proposal.Round.View >= v })
	return a.chain[i:min(len(a.chain), i+limit)]
}

// encode writes the block for a round on a parent. Two blocks that differ in
// salt alone are equally valid.
func encode(r beacon.Round, parent simplex.Parent, s standing, salt byte) []byte {
	b := append([]byte{salt}, parent.Payload[:]...)
	b = append(b, parent.Seed[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.View))
	b = binary.BigEndian.AppendUint64(b, s.height)
	return binary.BigEndian.AppendUint64(b, uint64(s.at))
}

// timeOf reads the time of a block, or returns 0 for what is none.
func timeOf(block []byte) time.Duration {
	if len(block) < placeBytes {
		return 0
	}
	return time.Duration(binary.BigEndian.Uint64(block[placeBytes-8:]))
}

// digestOf hashes a block's head, which may be all of it.
func digestOf(block []byte) chain.Hash { return keccak.Sum256(block[:min(len(block), headBytes)]) }

// build makes a block, on request one that no validator accepts.
// Its time is that of the clock, but above its parent's.
func (a *application) build(x simplex.RequestProposal, salt byte, invalid bool, clock time.Duration) ([]byte, chain.Hash, standing) {
	parent := a.executed[x.Parent.Payload]
	s := standing{parent.height + 1, max(clock, parent.at+time.Millisecond)}
	stated := s
	if invalid {
		stated.height++
	}
	body := a.withBody(encode(x.Round, x.Parent, stated, salt))
	return body, digestOf(body), s
}

func (a *application) execute(p simplex.Proposal, parent simplex.Parent, body []byte) bool {
	before, ok := a.executed[parent.Payload]
	if !ok {
		return false
	}
	s := standing{before.height + 1, timeOf(body)}
	if s.at <= before.at || !bytes.Equal(body, a.withBody(encode(p.Round, parent, s, body[0]))) {
		return false
	}
	a.executed[p.Payload] = s
	return true
}

// apply makes a finalized block durable.
func (a *application) apply(b applied) error {
	p := b.own.Proposal
	s, ok := a.executed[p.Payload]
	if !ok || s.height != uint64(len(a.chain))+1 {
		return fmt.Errorf("finalized block of view %d has height %d (executed: %v), after %d blocks",
			p.Round.View, s.height, ok, len(a.chain))
	}
	if parent := a.floor(); p.Parent != parent.View {
		return fmt.Errorf("finalized block of view %d extends view %d, not %d", p.Round.View, p.Parent, parent.View)
	}
	a.chain = append(a.chain, b)
	return nil
}
