package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

// Names of the files in a data folder.
const (
	GenesisFile = "genesis.json"
	KeysFile    = "keys.json"
	// PeersFile names where the other validators are found at first. It is the
	// operator's: the node reads it and never writes it.
	PeersFile   = "peers.json"
	StoreFolder = "store"
	JournalFile = "votes.journal"
	// EvidenceFile keeps proofs of contradictions until they are punished.
	EvidenceFile = "evidence.journal"
	// SubmittedFile keeps what clients submitted to this node.
	SubmittedFile = "submitted.journal"

	CheckpointFolder = "checkpoints"
)

// LoadGenesis reads the genesis of a data folder.
func LoadGenesis(dataDir string) (*genesis.Genesis, error) {
	name := filepath.Join(dataDir, GenesisFile)
	raw, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		if missing := MissingGenesis(dataDir); missing != nil {
			return nil, missing
		}
	}
	if err != nil {
		return nil, WithNext(fmt.Errorf("read genesis: %w", err), NextGenesis)
	}
	g, err := genesis.Parse(raw)
	if err != nil {
		return nil, WithNext(fmt.Errorf("%s: %w", name, err), NextGenesis)
	}
	return g, nil
}

// ErrGenesisMissing means that a folder holds a chain and not the genesis that
// it began with. None is invented: it would be another chain's.
var ErrGenesisMissing = errors.New("genesis.json is missing")

// MissingGenesis refuses a folder without a genesis that holds a chain; nil for
// one that holds none.
func MissingGenesis(dir string) error {
	for _, name := range []string{StoreFolder, JournalFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return WithNext(fmt.Errorf("%w in %s, which holds a chain: there is %s", ErrGenesisMissing, dir, name), NextGenesis)
		}
	}
	first := DealtFolder(dir, 0)
	if _, err := os.Stat(filepath.Join(first, StoreFolder)); err == nil {
		next := NextGenesis
		if copied := filepath.Join(first, GenesisFile); exists(copied) {
			next = fmt.Sprintf("cp %s %s", copied, filepath.Join(dir, GenesisFile))
		}
		return WithNext(fmt.Errorf("%w in %s, whose validators hold a chain", ErrGenesisMissing, dir), next)
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// DealtFolder is the data folder of validator i of a dealt chain.
func DealtFolder(dir string, i int) string {
	return filepath.Join(dir, "validator-"+strconv.Itoa(i))
}

// FullNodeFolder is the data folder of full node i of a dealt chain.
func FullNodeFolder(dir string, i int) string {
	return filepath.Join(dir, "full-node-"+strconv.Itoa(i))
}

// ErrNotDevelopment keeps tools that lie away from chains that matter.
var ErrNotDevelopment = errors.New("only for a development chain: its genesis does not say devnet")
