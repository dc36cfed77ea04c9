package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// withNext adds the next step to a refusal that has none yet.
func withNext(err error, next string) error {
	var there *NextStepError
	if err == nil || errors.As(err, &there) {
		return err
	}
	return &NextStepError{err, next}
}

// ErrGenesisMissing means that a folder holds a chain and not the genesis that
// it began with. None is invented: it would be another chain's.
var ErrGenesisMissing = errors.New("genesis.json is missing")

const nextGenesis = "put genesis.json back from a backup or from any other node of the chain: all have the same file, and `cowboyd genesis check FILE` prints its hash"

// missingGenesis refuses a folder without a genesis that holds a chain; nil for
// one that holds none.
func missingGenesis(dir string) error {
	for _, name := range []string{storeFolder, journalFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return withNext(fmt.Errorf("%w in %s, which holds a chain: there is %s", ErrGenesisMissing, dir, name), nextGenesis)
		}
	}
	first := DealtFolder(dir, 0)
	if _, err := os.Stat(filepath.Join(first, storeFolder)); err == nil {
		next := nextGenesis
		if copied := filepath.Join(first, genesisFile); exists(copied) {
			next = fmt.Sprintf("cp %s %s", copied, filepath.Join(dir, genesisFile))
		}
		return withNext(fmt.Errorf("%w in %s, whose validators hold a chain", ErrGenesisMissing, dir), next)
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
