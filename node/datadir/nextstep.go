package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/node/keystore"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// NextStepError is a refusal that says what its reader can do about it. The
// steps are those of docs/damage.md, for the folder at hand.
type NextStepError struct {
	Err  error
	Next string
}

func (e *NextStepError) Error() string { return fmt.Sprintf("%v\n  next: %s", e.Err, e.Next) }

// Unwrap returns the refusal itself.
func (e *NextStepError) Unwrap() error { return e.Err }

// WithNext adds the next step to a refusal that has none yet.
func WithNext(err error, next string) error {
	var there *NextStepError
	if err == nil || errors.As(err, &there) {
		return err
	}
	return &NextStepError{err, next}
}

// Folder is a data folder as its refusals tell of it.
type Folder struct {
	Dir     string
	Genesis *genesis.Genesis
	Votes   *journal.Journal // nil: it is not open, and is opened to look into it
}

// Refused adds the next step to a refusal of a part of the folder.
func (f Folder) Refused(part string, err error) error {
	var missing *MissingWatermarkError
	switch {
	case err == nil, errors.As(err, &missing), errors.Is(err, store.ErrInUse), errors.Is(err, store.ErrFormat),
		errors.Is(err, guard.ErrInUse), errors.Is(err, journal.ErrInUse), errors.Is(err, ErrKeysExposed),
		errors.Is(err, ErrKeysLocked), errors.Is(err, ErrKeysPlain), errors.Is(err, keystore.ErrPassphrase), errors.Is(err, keystore.ErrEmpty):
		return err // it says so itself
	case errors.Is(err, store.ErrDiskFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return WithNext(err, nextRoom)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return WithNext(err, nextUnreadable)
	case errors.Is(err, store.ErrOtherGenesis):
		return WithNext(err, nextOtherChain)
	case errors.Is(err, journal.ErrKind):
		return WithNext(err, "give the files their own names back: votes.journal, evidence.journal and submitted.journal are not for each other")
	}
	next := f.nextOf(part)
	switch unreadable := blocklog.Unreadable(err); {
	case unreadable && next != "":
		next = nextUnreadable + "\nif it stays so, what is in it is lost: " + next
	case unreadable:
		next = nextUnreadable
	case next == "":
		return err
	}
	return WithNext(err, next)
}

// nextOf says how a part of the folder comes back that is damaged.
func (f Folder) nextOf(part string) string {
	dir := f.Dir
	switch part {
	case KeysFile:
		return nextKeys
	case guard.FileName:
		return fmt.Sprintf(nextGuard, dir)
	case JournalFile:
		if epoch.Of(f.Genesis).Alone() {
			return fmt.Sprintf(nextVotesAlone, dir)
		}
		return fmt.Sprintf(nextVotes, dir)
	case EvidenceFile:
		return "move evidence.journal away and start again: what it proves against others is lost, unless they prove it, too"
	case StoreFolder:
		return f.nextStore()
	}
	return ""
}

// nextStore says how a store comes back: out of the journal if that has the chain
// from its first block, else from others, else from a backup.
func (f Folder) nextStore() string {
	dir := filepath.Join(f.Dir, StoreFolder)
	first, last := f.journaled()
	switch {
	case first == 1:
		return fmt.Sprintf(nextStoreReplay, dir, last)
	case !epoch.Of(f.Genesis).Alone():
		return fmt.Sprintf(nextStorePeers, dir)
	case first > 1:
		return fmt.Sprintf(nextStoreAlone, dir, first-1)
	}
	return fmt.Sprintf("put %s and votes.journal back from one backup of the stopped folder", dir)
}

// journaled returns the first and the last height of the final blocks that the
// journal has without a gap, 0 if it has none that can be read.
func (f Folder) journaled() (first, last chain.Height) {
	j := f.Votes
	if j == nil {
		var err error
		if name := filepath.Join(f.Dir, JournalFile); !exists(name) {
			return 0, 0
		} else if j, err = journal.Open(name, journal.KindVotes); err != nil {
			return 0, 0
		}
		defer j.Close()
	}
	known, err := ReadJournal(j)
	if err != nil {
		return 0, 0
	}
	for _, at := range known.Finals {
		b, there := known.Blocks[at]
		if !there || b.Height <= last {
			continue
		}
		begin := b.Height
		for p, more := known.Blocks[b.Parent]; more; p, more = known.Blocks[p.Parent] {
			begin = p.Height
		}
		first, last = begin, b.Height
	}
	return first, last
}

const NextGenesis = "put genesis.json back from a backup or from any other node of the chain: all have the same file, and `cowboyd genesis check FILE` prints its hash"

const (
	nextKeys = "put keys.json back from its backup: no other node has it, and it cannot be made anew; as long as it is not here, do not start this key elsewhere from an older copy of the folder"

	nextUnreadable = "let the user of cowboyd read and write the file; if the system reports an error of the disk (dmesg), copy what can be read to another one"

	nextGuard = `never put an older copy of votes.watermark in its place, and do not delete it: it is what keeps the key from signing twice
    the memory is elsewhere:  cowboyd guard import --data %s votes.json   (made by cowboyd guard export)
    it is nowhere:            docs/damage.md, "votes.watermark", says how to close all views the key can have voted in`

	nextVotes = `move votes.journal and store away, and leave votes.watermark where it is
    with other nodes:  cowboyd run --data %[1]s --sync   or, without --sync, fetch all blocks from them
    alone:             put both back from one backup of the stopped folder`

	// What a validator without others has in its journal and not in its store was shown
	// to nobody.
	nextVotesAlone = `mv %[1]s/votes.journal %[1]s/votes.journal.damaged, leave store and votes.watermark where they are, and if no file of this folder was ever put back from a copy
    cowboyd guard reopen --data %[1]s --never-put-back     and start again: store has every block that was shown to anybody
    else put votes.journal and store back from one backup of the stopped folder (docs/damage.md)`

	nextStoreReplay = "mv %[1]s %[1]s.damaged, and start again: votes.journal has all %[2]d blocks, which are executed again"

	nextStorePeers = `mv %[1]s %[1]s.damaged, leave votes.journal and votes.watermark where they are, and start again: the blocks are fetched from other nodes and executed again
    faster:  move votes.journal away, too, and start with cowboyd run --sync, which fetches the state of a checkpoint`

	nextStoreAlone = "put %s back from a backup of the stopped folder, also from an earlier day: votes.journal has what comes after block %d"

	nextRoom = "make room on the disk and start again: nothing that was final is lost (docs/damage.md, \"A full disk\")"

	nextOtherChain = "put the genesis.json of the chain in store back (its hash is the first one named; `cowboyd genesis check FILE` prints that of a file), or choose another --data"
)
