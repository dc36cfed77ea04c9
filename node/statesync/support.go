package statesync

import (
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
)

// support adds up, for each checkpoint, who offers it. A peer counts half as much for
// each point of vain that it has above the one with the fewest: whoever always offers what
// nobody has comes behind the others.
func (c *Client) support() map[chain.Hash]uint64 {
	const full = 1 << 32
	least := math.MaxInt
	for peer := range c.offers {
		least = min(least, c.vain[peer])
	}
	sum := map[chain.Hash]uint64{}
	for peer, a := range c.offers {
		sum[a.Digest] += full >> min(c.vain[peer]-least, 32)
	}
	return sum
}

func (c *Client) list() (out []*checkpoint.Anchor) {
	for _, a := range c.offers {
		out = append(out, a)
	}
	return out
}

// backers are the peers that a checkpoint is fetched on the word of. What they offer
// later takes nothing back.
type backers struct {
	offered map[int]bool // the checkpoint, when it was chosen or since
	gave    map[int]bool // a good chunk of it, whatever they offered
}

// backersOf returns who offers a checkpoint that is about to be fetched.
func (c *Client) backersOf(anchor *checkpoint.Anchor) backers {
	b := backers{offered: map[int]bool{}, gave: map[int]bool{}}
	for peer, a := range c.offers {
		if a.Digest == anchor.Digest {
			b.offered[peer] = true
		}
	}
	return b
}

// What a checkpoint that nobody has any more costs in vain. Who handed out some of it
// pays less: its checkpoint was replaced, or the link of this node failed. It pays
// something, or a peer that hands out one chunk each time would be chosen for ever.
const (
	vainNothing = 2 // of a peer that gave nothing
	vainSome    = 1 // of one that gave a good chunk
)

// charge adds to vain of those that offered a checkpoint which was not to be had.
func (c *Client) charge(b backers) {
	for peer := range b.offered {
		if b.gave[peer] {
			c.vain[peer] += vainSome
		} else {
			c.vain[peer] += vainNothing
		}
	}
}
