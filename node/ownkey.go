package node

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/engine"
)

// How the node looks for another life of its key (docs/adr/0103).
const (
	// watchFor is the longest time that a start listens. Questions go out every two
	// seconds: two lives that start together differ by more than that as a rule.
	watchFor = 10 * time.Second
	// watchForDevnet is too short for two lives that start together, and development
	// chains start often.
	watchForDevnet = 500 * time.Millisecond
	watchEvery     = 2 * time.Second
	watchAgain     = time.Minute // a question and an answer of some hundred bytes for each peer
)

// watch draws how this process looks for another life of its key.
func (n *Node) watch() (engine.Watch, error) {
	if n.set.Len() == 1 || !n.keys.Validates() {
		return engine.Watch{}, nil // nobody to ask, or nothing to find
	}
	longest := n.cfg.WatchFor
	switch {
	case longest >= 0:
	case n.genesis.Devnet:
		longest = watchForDevnet
	default:
		longest = watchFor
	}
	var instance [8]byte
	if _, err := rand.Read(instance[:]); err != nil {
		return engine.Watch{}, fmt.Errorf("draw an instance number: %w", err)
	}
	shortest := longest / 5
	more, err := rand.Int(rand.Reader, big.NewInt(int64(longest-shortest)+1))
	if err != nil {
		return engine.Watch{}, fmt.Errorf("draw a time to listen: %w", err)
	}
	return engine.Watch{
		Instance: max(1, binary.BigEndian.Uint64(instance[:])), Alone: n.cfg.Alone,
		Listen: shortest + time.Duration(more.Int64()), Longest: longest, Every: watchEvery, Again: watchAgain,
	}, nil
}

// silence says why no vote of this validator leaves, or nothing if votes may.
func (n *Node) silence() string {
	s := &n.engine.Stats
	if text := s.SilenceReason(); text != "" {
		return "no votes yet: this validator " + text
	}
	if v := s.ClosedView.Load(); v > 0 {
		return fmt.Sprintf("no votes in view %d: this key signed in it or after it what is not known here any more (see the log, and docs/operating.md, a closed view)", v)
	}
	return ""
}
