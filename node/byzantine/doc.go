// Package byzantine makes a validator of a development chain lie, in a way that
// has a name: the way in for tests of what honest validators do about it.
//
// In: the application and the network of an honest engine. Out: the same two,
// changed: what the application proposes is altered before it is signed, and what
// the engine sends is rewritten, held back or joined by contradictions on its way
// out. The engine between them, the mesh and the disk are those that ship.
//
// A liar signs with its own key what the double-sign protection would refuse.
// Package node therefore lets one in only where the genesis says devnet, and only
// on request; nothing else imports this package.
//
// Sections: consensus.md §6 names most of the players; whitepaper §5.1, §6.5.
package byzantine

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Kind is one way to lie.
type Kind struct {
	Name  string
	About string
	// Convicts says that others get two statements that contradict each other,
	// which is evidence. Any other lie costs the liar its say, for a while or in
	// this view alone.
	Convicts bool

	counts  bool // remembers the heights of blocks
	alter   func(l *Liar, b *block) error
	rewrite func(l *Liar, to beacon.Participant, msg []byte) [][]byte
}

// Kinds lists the ways to lie.
func Kinds() []Kind {
	return []Kind{
		{Name: "equivocator", About: "two proposals in one view", Convicts: true, rewrite: equivocate},
		{Name: "conflicter", About: "votes for two blocks in one view", Convicts: true, rewrite: conflict},
		{Name: "nuller", About: "nullifies the views that it finalizes", Convicts: true, rewrite: nullify},
		{Name: "silent", About: "leads without a proposal", rewrite: silence},
		{Name: "withholder", About: "keeps its blocks from one validator", rewrite: withhold},
		{Name: "unfinal", About: "keeps what finalizes blocks at even heights", counts: true, rewrite: unfinal},
		{Name: "bad-root", About: "proposes a wrong state root", alter: badRoot},
		{Name: "bad-receipts", About: "proposes a wrong receipts root", alter: badReceipts},
		{Name: "bad-order", About: "proposes transactions in an order of its own", alter: badOrder},
		{Name: "bad-used", About: "claims more gas than was used", alter: badUsed},
		{Name: "bad-fees", About: "proposes base fees of its own", alter: badFees},
		{Name: "future-timestamp", About: "proposes blocks of the next hour", alter: future},
		{Name: "oversize", About: "sends blocks above the size limit", rewrite: oversize},
		{Name: "invalid-signer", About: "spoils its partial signatures", rewrite: spoilSignature},
		{Name: "invalid-seed", About: "spoils its partial seeds", rewrite: spoilSeed},
		{Name: "unsigned-voter", About: "leaves its individual signatures out", rewrite: spoilIndividual},
		{Name: "impersonator", About: "votes in the name of another", rewrite: impersonate},
		{Name: "reconfigurer", About: "votes in the next epoch", rewrite: nextEpoch},
		{Name: "bad-codeword", About: "proposes shards of two bodies at once", alter: badCodeword},
		{Name: "bad-shards", About: "spoils the shards of its blocks", alter: largeBody, rewrite: spoilShards},
		{Name: "babbler", About: "sends noise in place of messages", rewrite: babble},
	}
}

// Names lists the kinds by name, for people.
func Names() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// ErrKind means a kind that is not in the list.
var ErrKind = errors.New("unknown kind of lie")

// Find returns the kind of the name.
func Find(name string) (Kind, error) {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, fmt.Errorf("%w %q: want one of %s", ErrKind, name, Names())
	}
	return kinds[i], nil
}

// Config is who lies, and how.
type Config struct {
	Kind   Kind
	Params *params.Params
	Set    *beacon.ValidatorSet
	Self   beacon.Participant
	Keys   simplex.Keys
	Shards *shards.Code // nil: the set is too small for shards
	Log    *slog.Logger
}

// Liar changes what passes between an engine and the rest of its node. Its
// network is called by the engine's loop alone, its application by one Propose at
// a time.
type Liar struct {
	cfg    Config
	scheme *simplex.Threshold

	mu      sync.Mutex // the application is called beside the loop
	heights map[chain.Hash]chain.Height
}

// New returns a liar.
func New(cfg Config) (*Liar, error) {
	if cfg.Set.Len() < shards.MinValidators {
		return nil, fmt.Errorf("a liar among %d validators: want at least %d, or the honest ones have no quorum", cfg.Set.Len(), shards.MinValidators)
	}
	scheme, err := simplex.NewThreshold(cfg.Set, cfg.Self, cfg.Keys, nil) // it signs and verifies nothing
	if err != nil {
		return nil, fmt.Errorf("liar: %w", err)
	}
	return &Liar{cfg: cfg, scheme: scheme, heights: map[chain.Hash]chain.Height{}}, nil
}

// Network returns net with the lies in it.
func (l *Liar) Network(net engine.Network) engine.Network {
	if l.cfg.Kind.rewrite == nil {
		return net
	}
	return &network{l, net}
}

type network struct {
	liar *Liar
	to   engine.Network
}

// Broadcast implements [engine.Network]: everyone is told its own version.
func (n *network) Broadcast(msg []byte) {
	for i := range n.liar.cfg.Set.Len() {
		if to := beacon.Participant(i); to != n.liar.cfg.Self {
			n.Send(to, msg)
		}
	}
}

// Send implements [engine.Network].
func (n *network) Send(to beacon.Participant, msg []byte) {
	if int(to) >= n.liar.cfg.Set.Len() {
		n.to.Send(to, msg) // a full node has no say, so there is nothing to gain
		return
	}
	for _, m := range n.liar.cfg.Kind.rewrite(n.liar, to, msg) {
		n.to.Send(to, m)
	}
}
