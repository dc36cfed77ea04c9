package genesis

import "github.com/cowboy-foundation/cowboy/chain"

// HashUnchecked hashes a genesis file without judging it.
func HashUnchecked(b []byte) (chain.Hash, error) {
	g, err := parse(b)
	if err != nil {
		return chain.Hash{}, err
	}
	return g.Hash(), nil
}
