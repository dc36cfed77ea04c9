package shards

import "fmt"

// EncodeLie returns what a lying leader may commit to: the data shards of body
// and the parity of another body of the same length. Every shard of it passes
// [Code.Check] and no body has this root. Simulations and tests play such
// leaders.
func (c *Code) EncodeLie(body, other []byte) (*Codeword, error) {
	shards, err := c.codec.Encode(body)
	if err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	parity, err := c.codec.Encode(other)
	if err != nil {
		return nil, fmt.Errorf("encode other body: %w", err)
	}
	copy(shards[c.Needed():], parity[c.Needed():])
	return c.seal(len(body), shards), nil
}
