package node

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/byzantine"
)

// errLiarAlone means that nobody would hear the lies.
var errLiarAlone = errors.New("byzantine behaviour needs a chain of several validators")

// honestOrNot returns what the engine asks and sends to: the ledger and the mesh,
// or, where a development chain is to have a liar, those with its lies in them.
func (n *Node) honestOrNot(cfg *engine.Config) (engine.Application, engine.Network, error) {
	if n.cfg.Byzantine == "" {
		return n.ledger, n.mesh.network(), nil
	}
	if n.mesh == nil || !n.keys.Validates() {
		return nil, nil, errLiarAlone
	}
	kind, err := byzantine.Find(n.cfg.Byzantine)
	if err != nil {
		return nil, nil, err
	}
	liar, err := byzantine.New(byzantine.Config{
		Kind: kind, Params: &n.genesis.Params, Set: n.set, Self: cfg.Self,
		Keys: simplex.Keys{Share: cfg.Share, Peer: cfg.Peer}, Shards: n.shards, Log: n.log,
	})
	if err != nil {
		return nil, nil, err
	}
	cfg.Watch = engine.Watch{} // others would tell it of votes that its own memory does not know
	n.log.Warn("this validator lies", "kind", kind.Name, "about", kind.About)
	return liar.Application(n.ledger), liar.Network(n.mesh.network()), nil
}
