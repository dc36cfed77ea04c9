package simtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

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
	code     *shards.Code          // nil: blocks have no body and travel whole
	chain    []applied             // durable; height is index + 1
	executed map[chain.Hash]uint64 // height by digest
	queue    []simplex.Finalized   // being made durable
}

// applied is a block as a store keeps it.
type applied struct {
	own         simplex.Certificate // of this very block
	certificate simplex.Certificate // that made it final
	body        []byte
}

func (a *application) restart() {
	a.queue = nil
	f := a.floor()
	a.executed = map[chain.Hash]uint64{f.Payload: uint64(len(a.chain))}
}

// floor returns what the application would tell a new engine. As there, the
// certificate of the last block may be that of a descendant.
func (a *application) floor() simplex.Floor {
	if len(a.chain) == 0 {
		return simplex.Floor{Payload: a.genesis}
	}
	last := a.chain[len(a.chain)-1]
	f := simplex.Floor{View: last.own.Proposal.Round.View, Payload: last.own.Proposal.Payload}
	if last.certificate.Proposal == last.own.Proposal {
		f.Seed = last.certificate.Seed
	}
	return f
}

// from returns up to limit stored blocks of view v and later ones.
func (a *application) from(v chain.View, limit int) []applied {
	i := sort.Search(len(a.chain), func(i int) bool { return a.chain[i].own.Proposal.Round.View >= v })
	return a.chain[i:min(len(a.chain), i+limit)]
}

// encode writes the block for a round on a parent at a height. Two blocks that
// differ in salt alone are equally valid.
func encode(r beacon.Round, parent simplex.Parent, height uint64, salt byte) []byte {
	b := append([]byte{salt}, parent.Payload[:]...)
	b = append(b, parent.Seed[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.View))
	return binary.BigEndian.AppendUint64(b, height)
}

// digestOf hashes a block's head, which may be all of it.
func digestOf(block []byte) chain.Hash { return keccak.Sum256(block[:min(len(block), headBytes)]) }

// build makes a block, on request one that no validator accepts.
func (a *application) build(x simplex.RequestProposal, salt byte, invalid bool) ([]byte, chain.Hash) {
	height := a.executed[x.Parent.Payload] + 1
	stated := height
	if invalid {
		stated++
	}
	body := a.withBody(encode(x.Round, x.Parent, stated, salt))
	digest := digestOf(body)
	a.executed[digest] = height
	return body, digest
}

func (a *application) execute(p simplex.Proposal, parent simplex.Parent, body []byte) bool {
	height, ok := a.executed[parent.Payload]
	if !ok || !a.fits(p.Payload, body) {
		return false
	}
	if !bytes.Equal(body, a.withBody(encode(p.Round, parent, height+1, body[0]))) {
		return false
	}
	a.executed[p.Payload] = height + 1
	return true
}

// apply makes a finalized block durable.
func (a *application) apply(b applied) error {
	p := b.own.Proposal
	height, ok := a.executed[p.Payload]
	if !ok || height != uint64(len(a.chain))+1 {
		return fmt.Errorf("finalized block of view %d has height %d (executed: %v), after %d blocks",
			p.Round.View, height, ok, len(a.chain))
	}
	if parent := a.floor(); p.Parent != parent.View {
		return fmt.Errorf("finalized block of view %d extends view %d, not %d", p.Round.View, p.Parent, parent.View)
	}
	a.chain = append(a.chain, b)
	return nil
}
