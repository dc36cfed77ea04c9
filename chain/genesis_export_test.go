package chain

// HashUnchecked hashes a genesis file without judging it.
func HashUnchecked(b []byte) (Hash, error) {
	g, err := parseGenesis(b)
	if err != nil {
		return Hash{}, err
	}
	return g.Hash(), nil
}
