// Package mutants plants known bugs, one at a time, and lets the test programme
// look for them. A bug that nothing finds is a bug of the programme.
//
// In: a table of exact edits to the source, and for each the commands that are to
// find it. Out: which one did, and in how many seconds. The shipping source holds
// no planted bug and no switch for one: an edit reaches the compiler as an overlay
// (go build -overlay), and must match its file exactly once, so that source which
// moved on fails the test instead of passing it by (docs/adr/0120).
package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Mutant is one planted bug.
type Mutant struct {
	Name  string
	About string // what goes wrong with it
	File  string // from the module's root
	Old   string // text that occurs in the file once
	New   string
	Found []Finder // in this order
}

// Finder is a command that may find a bug: tests of one package.
type Finder struct {
	Name    string
	Package string   // from the module's root
	Run     string   // pattern of tests
	Args    []string // of the test binary
	Within  time.Duration
}

// nodes are seeds of the simulation of whole nodes.
func nodes(first, seeds int) Finder {
	return Finder{
		Name: "simulated nodes", Package: "node/simnode", Run: "TestNodes$", Within: 3 * time.Minute,
		Args: []string{"-test.failfast", fmt.Sprintf("-first=%d", first), fmt.Sprintf("-seeds=%d", seeds)},
	}
}

// liars is a seed of the simulation of whole nodes with liars that are given.
func liars(kinds string) Finder {
	f := nodes(3, 2)
	f.Name += ", " + kinds
	f.Args = append(f.Args, "-liars="+kinds)
	return f
}

// strangers is a seed of the simulation of whole nodes with guests that are given.
func strangers(kinds string) Finder {
	f := nodes(6, 1)
	f.Name += ", guests: " + kinds
	f.Args = append(f.Args, "-guests="+kinds)
	return f
}

// machines are seeds of the simulation of protocol machines.
func machines(first, seeds int) Finder {
	return Finder{
		Name: "simulated machines", Package: "consensus/simtest", Run: "TestSim$", Within: 3 * time.Minute,
		Args: []string{"-test.failfast", fmt.Sprintf("-first=%d", first), fmt.Sprintf("-seeds=%d", seeds)},
	}
}

// tests are the tests of a package by name.
func tests(pkg, run string) Finder {
	return Finder{Name: pkg + " " + strings.TrimSuffix(run, "$"), Package: pkg, Run: run, Within: 3 * time.Minute}
}

// Mutants lists the planted bugs.
func Mutants() []Mutant { return slices.Concat(ofVotes(), ofMemory(), ofCompany()) }

// ofVotes are bugs in what is said and counted.
func ofVotes() []Mutant {
	return []Mutant{
		{
			Name: "vote-before-sync", About: "votes leave before journal and guard are durable",
			File:  "consensus/engine/engine.go",
			Old:   "\t\tif len(bound) > 0 {\n\t\t\tif err := e.records.sync(); err != nil {",
			New:   "\t\tfor _, effect := range bound {\n\t\t\te.release(ctx, effect)\n\t\t}\n\t\tif len(bound) > 0 {\n\t\t\tbound = nil\n\t\t\tif err := e.records.sync(); err != nil {",
			Found: []Finder{nodes(3, 4)},
		},
		{
			Name: "watermark-off-by-one", About: "the watermark closes the rounds below its own and not that one",
			File:  "consensus/simplex/watermark.go",
			Old:   "\t\tcase order > 0:\n",
			New:   "\t\tcase order >= 0:\n",
			Found: []Finder{nodes(3, 4), machines(1, 200), tests("consensus/simplex", "TestWatermark")},
		},
		{
			Name: "tally-counts-twice", About: "a validator's vote that comes twice counts twice",
			File:  "consensus/simplex/tally.go",
			Old:   "\tif old, ok := b.polls[v.Kind].voteOf(v.Signer); ok {\n",
			New:   "\tif old, ok := b.polls[v.Kind].voteOf(v.Signer); ok && old.vote != v {\n",
			Found: []Finder{nodes(3, 4), machines(1, 200)},
		},
		{
			Name: "accepts-foreign-epoch", About: "votes of another epoch are counted, and nobody is blamed",
			File:  "consensus/engine/peers.go",
			Old:   "\tif v.Signer != from || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() {\n",
			New:   "\tif v.Signer != from {\n",
			Found: []Finder{liars("reconfigurer"), tests("consensus/engine", "TestBans$")},
		},
		{
			Name: "skip-subgroup-check", About: "a signature outside the prime-order subgroup is one",
			File:  "crypto/bls/bls.go",
			Old:   "\tif err == nil && !p.affine.InG1() {\n",
			New:   "\tif err == nil && false {\n",
			Found: []Finder{tests("crypto/bls", "TestPointsOutsideTheSubgroupAreRefused$")},
		},
		{
			Name: "certify-without-parent", About: "a block is taken in before its parent is",
			File:  "consensus/simplex/voting.go",
			Old:   "\tif s == nil || !s.loaded {\n\t\treturn Parent{}, false\n",
			New:   "\tif s == nil || s.block() == nil {\n\t\treturn Parent{}, false\n",
			Found: []Finder{nodes(3, 4), machines(1, 200)},
		},
		{
			Name: "drop-nullification", About: "a nullification leads into no next view",
			File:  "consensus/simplex/ancestry.go",
			Old:   "\ts := m.at(v)\n\tif old := s.certs[c.Kind]; old != nil {\n",
			New:   "\tif c.Kind == Nullify {\n\t\treturn\n\t}\n\ts := m.at(v)\n\tif old := s.certs[c.Kind]; old != nil {\n",
			Found: []Finder{nodes(3, 4), machines(1, 200)},
		},
	}
}

// ofMemory are bugs in what is kept, fetched and made final.
func ofMemory() []Mutant {
	return []Mutant{
		{
			Name: "guard-not-synced", About: "the memory of what the key signed is written and not synced",
			File:  "consensus/guard/guard.go",
			Old:   "\tif err == nil {\n\t\terr = g.file.Sync()\n\t}\n\tif err == nil {\n\t\terr = g.owns()",
			New:   "\tif err == nil {\n\t\terr = g.owns()",
			Found: []Finder{nodes(3, 4)},
		},
		{
			Name: "fetch-never-rotates", About: "blocks are asked of one peer for ever",
			File:  "consensus/engine/fetch.go",
			Old:   "\tp, ok := f.rates.pick(f.now, func(p beacon.Participant) bool {\n\t\treturn f.here.mayAsk(p, f.now) && !w.tried[p] && may(p)\n\t})\n",
			New:   "\tp, ok := beacon.Participant(f.cfg.Set.Len()-1), true\n\tif f.cfg.isSelf(p) {\n\t\tp = 0\n\t}\n",
			Found: []Finder{liars("refuser"), tests("consensus/engine", "Drip")},
		},
		{
			Name: "finality-out-of-order", About: "what is final by itself goes before what waits for the disk",
			File:  "consensus/simplex/event.go",
			Old:   "\t\treturn len(e.Chain) > 1 || slices.ContainsFunc(before, func(b Effect) bool {\n\t\t\tearlier, ok := b.(Finalized)\n\t\t\treturn ok && len(earlier.Chain) > 1\n\t\t})\n",
			New:   "\t\treturn len(e.Chain) > 1\n",
			Found: []Finder{tests("consensus/simplex", "TestSplit")}, // no simulator: docs/reliability.md
		},
		{
			Name: "journal-not-synced-at-start", About: "what a killed process left is said again before it is durable",
			File:  "state/journal/journal.go",
			Old:   "\tif err := j.file.Sync(); err != nil {\n\t\treturn err\n\t}\n\treturn j.dir.Sync()\n}\n",
			New:   "\treturn nil\n}\n",
			Found: []Finder{nodes(112, 1), tests("state/journal", "TestOpenMakesDurable$")},
		},
		{
			Name: "checkpoint-root-unchecked", About: "a chunk of state is kept whatever root it belongs to",
			File:  "state/checkpoint/fetch.go",
			Old:   "\t\tgot.Kind = AskAccounts\n\t\tif out.span, err = c.Check(f.root); err == nil {\n",
			New:   "\t\tgot.Kind = AskAccounts\n\t\tif out.span, _ = c.Check(f.root); err == nil {\n",
			Found: []Finder{tests("state/checkpoint", "TestFetchFromAllKindsOfPeers$"), tests("state/checkpoint", "Test")},
		},
	}
}

// ofCompany are bugs that show only where others than validators take part, or where
// liars fill a budget.
func ofCompany() []Mutant {
	return []Mutant{
		{
			Name: "blocks-without-budget", About: "blocks that cannot be judged are never dropped",
			File:  "consensus/engine/blocks.go",
			Old:   "\tif s.max == 0 || s.bytes+n <= s.max {\n",
			New:   "\tif true {\n",
			Found: []Finder{nodes(4, 1), tests("consensus/engine", "TestHoard$")},
		},
		{
			Name: "pool-forgets-early", About: "transactions leave the pool with the first block that has them, final or not",
			File:  "node/ledger/propose.go",
			Old:   "\treturn l.seal(h, parent, txs, &result, func() txList { return list })\n",
			New:   "\t_ = l.cfg.Pool.Discard(context.Background(), txs)\n\treturn l.seal(h, parent, txs, &result, func() txList { return list })\n",
			Found: []Finder{nodes(7, 1)},
		},
		{
			Name: "foreign-chain-let-in", About: "connections are made whatever chain the other announces",
			File:  "node/p2p/identity.go",
			Old:   "hex.EncodeToString(genesis[:])",
			New:   "hex.EncodeToString(genesis[:0])",
			Found: []Finder{strangers("foreigner")},
		},
		{
			Name: "budgets-without-wait", About: "nobody waits for a budget that is used up, guests neither when they ask nor when they are sent",
			File:  "node/p2p/class.go",
			Old:   "\treturn time.Duration(-b.tokens / b.rate * float64(time.Second))\n",
			New:   "\treturn 0\n",
			Found: []Finder{strangers("asker,asker")},
		},
	}
}

// Find returns the mutant of a name.
func Find(name string) (Mutant, bool) {
	for _, m := range Mutants() {
		if m.Name == name {
			return m, true
		}
	}
	return Mutant{}, false
}

// Apply returns the file with the bug in it.
func (m Mutant) Apply(root string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("%s: the text to be replaced occurs %d times in %s, want once: the source moved, move the mutant", m.Name, n, m.File)
	}
	return bytes.Replace(src, []byte(m.Old), []byte(m.New), 1), nil
}

// Overlay writes the file with the bug, and what tells the compiler of it, into
// dir. It returns the name of the latter.
func (m Mutant) Overlay(root, dir string) (string, error) {
	src, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	with, overlay := filepath.Join(dir, m.Name+".go"), filepath.Join(dir, m.Name+".json")
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, m.File): with}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(with, src, 0o644); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, raw, 0o644)
}
