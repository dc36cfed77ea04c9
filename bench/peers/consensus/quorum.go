package main

import (
	"bytes"
	stded25519 "crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"

	blst "github.com/supranational/blst/bindings/go"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	cowboy "github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

const eager = "blst and Ed25519, each vote as it comes"

// quorumBars race the way from votes, one after the other, to a certificate with
// its seed: the tally and the scheme of the node against checking the vote, the
// seed and the individual signature of each vote as it comes. Both recover the
// certificate with our code; ours verifies it as well. The first vote is the
// node's own, on both sides. Each iteration sees the votes in another order, so
// that the factors of a set of signers are met once.
func quorumBars() []bars.Bar {
	var list []bars.Bar
	for _, r := range []struct {
		race      quorumRace
		must, aim float64
	}{
		{quorumRace{n: 100, individual: true}, 1 / 0.15, 10},
		{quorumRace{n: 100}, 1 / 0.15, 10},
		{quorumRace{n: 100, bad: 1, individual: true}, 3, 4},
		{quorumRace{n: 100, bad: 1}, 3, 4},
		{quorumRace{n: 100, bad: 33, individual: true}, 1 / 1.1, 0},
		{quorumRace{n: 100, bad: 33}, 1 / 1.1, 0},
		{quorumRace{n: 100, bad: 33, seeds: true, individual: true}, 1 / 1.1, 0},
		{quorumRace{n: 4, individual: true}, 1, 2},
		{quorumRace{n: 7, individual: true}, 1, 3},
		{quorumRace{n: 32, individual: true}, 3, 6},
		{quorumRace{n: 100, individual: true, seedKnown: true}, 1, 10},
	} {
		list = append(list, bars.Bar{
			Name: r.race.name(), Peer: eager, Must: r.must, Aim: r.aim, Cores: 1, Setup: r.race.setup,
		})
	}
	return list
}

// quorumRace is a committee of n of which bad, evenly spread, sign another
// block, or another round where seeds is set.
type quorumRace struct {
	n, bad     int
	seeds      bool
	individual bool // Ed25519 signatures are checked as well
	seedKnown  bool // by an earlier certificate of the view: the second quorum of each
}

func (r quorumRace) name() string {
	name := fmt.Sprintf("quorum-%d", r.n)
	switch {
	case r.bad == 0:
		name += "-clean"
	case r.seeds:
		name += fmt.Sprintf("-%d-bad-seeds", r.bad)
	default:
		name += fmt.Sprintf("-%d-bad", r.bad)
	}
	if !r.individual {
		name += "-without-individual"
	}
	if r.seedKnown {
		name += "-second-of-a-view"
	}
	return name
}

// orders is how many orders of arrival there are: more than a scheme keeps sets
// of signers.
const orders = 20

// committee is a dealt validator set and its members' schemes.
type committee struct {
	set     *beacon.ValidatorSet
	schemes []*simplex.Threshold
	keys    []simplex.Keys
	weights io.Reader
}

func newCommittee(n int) (*committee, error) {
	quorum := cowboy.Quorum(n)
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{9}, 32), n, quorum)
	if err != nil {
		return nil, fmt.Errorf("deal: %w", err)
	}
	peers := make([]*ed25519.PrivateKey, n)
	for i := range peers {
		if peers[i], err = ed25519.NewPrivateKey(bytes.Repeat([]byte{byte(i), byte(i >> 8)}, ed25519.SeedSize/2)); err != nil {
			return nil, fmt.Errorf("peer key %d: %w", i, err)
		}
	}
	slices.SortFunc(peers, func(a, b *ed25519.PrivateKey) int {
		x, y := a.PublicKey(), b.PublicKey()
		return bytes.Compare(x[:], y[:])
	})
	g := &genesis.Genesis{Name: "bench", ChainID: 1, Params: params.Default()}
	g.GroupKey = polynomial.Group().Bytes()
	for i := range n {
		g.Validators = append(g.Validators, cowboy.Validator{
			PeerKey: peers[i].PublicKey(), ShareIndex: uint32(i), Stake: 1,
			PublicShare: polynomial.PublicShare(uint32(i)).Bytes(),
		})
	}
	c := &committee{weights: rand.Reader}
	if c.set, err = beacon.NewValidatorSet(epoch.First(g)); err != nil {
		return nil, fmt.Errorf("validator set: %w", err)
	}
	for i := range n {
		keys := simplex.Keys{Share: shares[i].Key, Peer: peers[i]}
		s, err := simplex.NewThreshold(c.set, beacon.Participant(i), keys, c.weights)
		if err != nil {
			return nil, fmt.Errorf("scheme %d: %w", i, err)
		}
		c.schemes, c.keys = append(c.schemes, s), append(c.keys, keys)
	}
	return c, nil
}

func (r quorumRace) setup() (bars.Contest, error) {
	c, err := newCommittee(r.n)
	if err != nil {
		return bars.Contest{}, err
	}
	p := simplex.Proposal{Round: beacon.Round{View: 8}, Parent: 7, Payload: cowboy.Hash{1}}
	votes := make([]simplex.Vote, r.n)
	for i, s := range c.schemes {
		votes[i] = s.Sign(simplex.Notarize, p)
	}
	good := slices.Clone(votes)
	planted := 0
	for i := range votes {
		if r.bad > 0 && i%(r.n/r.bad) == r.n/r.bad/2 && planted < r.bad && i > 0 {
			planted++
			if r.seeds {
				votes[i].Seed = c.schemes[i].Sign(simplex.Notarize, simplex.Proposal{Round: beacon.Round{View: 9}}).Seed
			} else {
				votes[i].Signature = c.schemes[i].Sign(simplex.Notarize, simplex.Proposal{Round: p.Round, Payload: cowboy.Hash{2}}).Signature
			}
		}
	}
	if planted != r.bad {
		return bars.Contest{}, fmt.Errorf("%d bad votes planted, want %d", planted, r.bad)
	}
	want, err := c.schemes[0].Recover(good)
	if err != nil {
		return bars.Contest{}, fmt.Errorf("recover: %w", err)
	}
	race := &quorumSides{quorumRace: r, committee: c, votes: votes, want: want, proposal: p}
	return race.contest()
}

// quorumSides is both contestants of a race.
type quorumSides struct {
	quorumRace
	*committee
	votes    []simplex.Vote
	want     simplex.Certificate
	proposal simplex.Proposal
	round    int // of the order of arrival
}

func (r *quorumSides) contest() (bars.Contest, error) {
	keys := make([]*blst.P2Affine, r.n)
	for i := range keys {
		b := r.set.At(beacon.Participant(i)).PublicShare.Bytes()
		if keys[i] = new(blst.P2Affine).Uncompress(b[:]); keys[i] == nil {
			return bars.Contest{}, errors.New("peer refuses a key")
		}
	}
	run := func(once func([]simplex.Vote) (simplex.Certificate, error)) func(int) error {
		return func(times int) error {
			for range times {
				got, err := once(r.arrivals())
				if err != nil {
					return err
				}
				if got != r.want {
					return errors.New("another certificate than the votes recover")
				}
			}
			return nil
		}
	}
	c := bars.Contest{
		Ours: bars.Side{Run: run(r.ours)},
		Peer: bars.Side{Run: run(func(votes []simplex.Vote) (simplex.Certificate, error) { return r.peer(keys, votes) })},
	}
	return c, errors.Join(c.Ours.Run(1), c.Peer.Run(1))
}

// arrivals is our own vote, then those of the others in the next order.
func (r *quorumSides) arrivals() []simplex.Vote {
	r.round = (r.round + 1) % orders
	others := r.votes[1:]
	at := r.round * len(others) / orders
	return slices.Concat(r.votes[:1], others[at:], others[:at])
}

// withoutIndividuals verifies no individual signature.
type withoutIndividuals struct{ simplex.Verifier }

func (withoutIndividuals) BadIndividuals([]simplex.Vote) []int { return nil }

func (r *quorumSides) ours(votes []simplex.Vote) (simplex.Certificate, error) {
	s := r.schemes[0]
	tally := simplex.NewTally(r.set.Quorum(), func(v cowboy.View) bool { return v == r.proposal.Round.View })
	if r.seedKnown {
		tally.Close(simplex.Certificate{Kind: simplex.Nullify, Proposal: r.proposal, Seed: r.want.Seed})
	}
	var checks simplex.Verifier = s
	if !r.individual {
		checks = withoutIndividuals{s}
	}
	judge := simplex.JudgeBy(checks, simplex.InTurn)
	for i, v := range votes {
		if i == 0 {
			tally.AddOwn(v)
		} else {
			tally.Add(v)
		}
		for tally.Due() {
			if n, err := tally.CountNext(judge); n.Made || err != nil {
				return n.Certificate, err
			}
		}
	}
	return simplex.Certificate{}, errors.New("no quorum")
}

func (r *quorumSides) peer(keys []*blst.P2Affine, votes []simplex.Vote) (simplex.Certificate, error) {
	ns := r.set.Namespaces()
	subject := bls.SignedBytes(ns.Notarize, attest.AppendSubject(nil, simplex.Notarize, r.proposal))
	seed := bls.SignedBytes(ns.Seed, r.proposal.Round.Append(nil))
	var good []simplex.Vote
	for i, v := range votes {
		if i > 0 && !(verifies(keys[v.Signer], subject, v.Signature) && verifies(keys[v.Signer], seed, v.Seed) &&
			(!r.individual || stded25519.Verify(r.set.At(v.Signer).PeerKey[:], subject, v.Individual[:]))) {
			continue
		}
		if good = append(good, v); len(good) == r.set.Quorum() {
			return r.schemes[1].Recover(good)
		}
	}
	return simplex.Certificate{}, errors.New("no quorum")
}

// verifies is blst's way from bytes to verdict.
func verifies(key *blst.P2Affine, signed []byte, sig bls.Signature) bool {
	point := new(blst.P1Affine).Uncompress(sig[:])
	return point != nil && point.Verify(true, key, false, signed, []byte("BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_"))
}
