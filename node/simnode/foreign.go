package simnode

import (
	"math"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// abroad is the validator set of another chain, with the same keys: one that began a
// moment later.
func (r *run) abroad() (*beacon.ValidatorSet, error) {
	g := *r.genesis
	g.TimestampMillis++
	return beacon.NewValidatorSet(epoch.First(&g))
}

// foreign brings words of another chain and of other epochs, each true where it is from:
// to one half of the validators its votes for the other chain in place of its own, to the
// others now and then a vote or a certificate of an epoch that is not.
func (l *liar) foreign() func(beacon.Participant, []byte) {
	return func(to beacon.Participant, msg []byte) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c, err := simplex.DecodeCertificate(msg); err == nil && l.rng.IntN(8) == 0 && to%2 == 1 {
			c.Proposal.Round.Epoch += l.epoch()
			l.net.Send(to, simplex.AppendCertificate(nil, c))
			return
		}
		v, rest, err := simplex.ReadVote(msg)
		if msg[0] != wire.TagVote || err != nil || len(rest) > 0 {
			l.net.Send(to, msg)
			return
		}
		switch p := v.Proposal; {
		case to%2 == 0:
			l.net.Send(to, simplex.AppendVote(nil, l.other.Sign(v.Kind, p)))
		case l.rng.IntN(8) == 0:
			p.Round.Epoch += l.epoch()
			l.net.Send(to, simplex.AppendVote(nil, l.scheme.Sign(v.Kind, p)))
		default:
			l.net.Send(to, msg)
		}
	}
}

// epoch draws how far the epoch of a lie is from the chain's, which is the first.
func (l *liar) epoch() chain.Epoch {
	return []chain.Epoch{1, 2, 1 << 40, math.MaxUint32}[l.rng.IntN(4)]
}
