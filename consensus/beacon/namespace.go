package beacon

import "github.com/cowboy-foundation/cowboy/chain"

// Namespaces separate the meanings of consensus signatures. Each is N and a
// suffix; the signer of one kind has said nothing of another.
type Namespaces struct {
	Notarize []byte // of proposals
	Nullify  []byte // of rounds
	Finalize []byte // of proposals
	Seed     []byte // of rounds, in votes of every kind
}

// NewNamespaces returns the namespaces of the chain with the given genesis
// hash (resolution 11.42).
func NewNamespaces(genesis chain.Hash) Namespaces {
	with := func(suffix string) []byte { return append(chain.Namespace(genesis), suffix...) }
	return Namespaces{
		Notarize: with("_NOTARIZE"),
		Nullify:  with("_NULLIFY"),
		Finalize: with("_FINALIZE"),
		Seed:     with("_SEED"),
	}
}
