package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

const (
	// evidenceFile keeps proofs of contradictions until they are punished.
	evidenceFile = "evidence.journal"
	// evidenceKind tells it from other journals.
	evidenceKind journal.Kind = "evidence"
	// evidenceQueued is how many proofs may wait for the disk: a validator is
	// banned with its first.
	evidenceQueued = 64
	// evidenceMax bounds what is kept: an offence is one proof, and an accused
	// validator goes unheard for minutes after each.
	evidenceMax = 4096
)

// evidence is the owner of the proofs that this node has: it makes each durable
// and shows them to whoever asks.
type evidence struct {
	file *journal.Journal
	news chan attest.Evidence
	log  *slog.Logger

	mu   sync.Mutex
	list []attest.Evidence // oldest first, one for each offence
}

// openEvidence reads what earlier lives of the node found. Proofs of another
// chain, or whose signatures do not hold, are not shown.
func openEvidence(dataDir string, set *beacon.ValidatorSet, log *slog.Logger) (*evidence, error) {
	file, err := journal.Open(filepath.Join(dataDir, evidenceFile), evidenceKind)
	if err != nil {
		return nil, fmt.Errorf("open evidence: %w", err)
	}
	v := &evidence{file: file, news: make(chan attest.Evidence, evidenceQueued), log: log}
	err = file.Replay(func(rec []byte) error {
		if e, err := attest.DecodeEvidence(rec); err == nil && simplex.VerifyEvidence(set, e) == nil {
			v.add(e)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read evidence: %w", err), file.Close())
	}
	return v, nil
}

// take is called by consensus, which must not wait.
func (v *evidence) take(e attest.Evidence) {
	v.log.Warn("validator signed two contradicting statements", "validator", e.Accused, "view", e.First.Proposal.Round.View)
	select {
	case v.news <- e:
	default: // the offence has a proof each time that it is seen
		v.log.Error("evidence is not kept: too much of it waits for the disk", "validator", e.Accused)
	}
}

// Run makes proofs durable before it shows them.
func (v *evidence) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-v.news:
			if !v.isNew(e) {
				continue
			}
			if err := v.file.Append(attest.AppendEvidence(nil, e)); err != nil {
				return fmt.Errorf("keep evidence: %w", err)
			}
			if err := v.file.Sync(); err != nil {
				return fmt.Errorf("keep evidence: %w", err)
			}
			v.add(e)
		}
	}
}

// isNew reports whether a proof is of an offence not known yet, and there is
// room for it.
func (v *evidence) isNew(e attest.Evidence) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, old := range v.list {
		if old.Offence() == e.Offence() {
			return false
		}
	}
	return len(v.list) < evidenceMax
}

func (v *evidence) add(e attest.Evidence) {
	if v.isNew(e) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.list = append(v.list, e)
	}
}

// All returns the proofs, oldest first. The list does not change.
func (v *evidence) All() []attest.Evidence {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.list[:len(v.list):len(v.list)]
}

func (v *evidence) close() error { return v.file.Close() }
