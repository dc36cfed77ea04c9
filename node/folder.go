package node

import (
	"fmt"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

// refused adds the next step to a refusal of a part of the data folder.
func (n *Node) refused(part string, err error) error {
	return datadir.Folder{Dir: n.cfg.DataDir, Genesis: n.genesis, Votes: n.votes}.Refused(part, err)
}

// openGuard opens the memory of what the key has signed, on the disk that the host
// gives.
func (n *Node) openGuard() (*guard.Guard, error) {
	dir, id := n.cfg.DataDir, datadir.GuardIdentity(n.genesis, n.keys)
	if n.host.Guard == nil {
		return datadir.OpenGuard(dir, id)
	}
	g, err := guard.OpenIn(n.host.Guard, id)
	return datadir.AsGuard(dir, g, err)
}

// dropHalfKeys removes, at the start of a node whose keys were read, what a keys command
// that was cut short left beside them.
func (n *Node) dropHalfKeys() error {
	found, err := datadir.RemoveHalfKeys(n.cfg.DataDir)
	if found {
		n.log.Warn("removed what a keys command that was cut short had left; it may have held the keys in the clear, and the disk may hold it still",
			"file", filepath.Join(n.cfg.DataDir, datadir.KeysFile+datadir.HalfKeys))
	}
	return err
}

// openVotes opens the vote journal, on the disk that the host gives.
func (n *Node) openVotes() (*journal.Journal, error) {
	if n.host.Votes == nil {
		return datadir.OpenVotes(n.cfg.DataDir, n.store)
	}
	j, err := journal.OpenIn(n.host.Votes, datadir.JournalFile, journal.KindVotes)
	if err != nil {
		return nil, fmt.Errorf("open vote journal: %w", err)
	}
	return j, nil
}
