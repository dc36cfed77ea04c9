package node

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestRoomSaysSoLongBefore fills each limit in steps: /health has a sentence from
// 70 % on and an urgent one from 90 % on, the log has each once, and both are silent
// again when there is room.
func TestRoomSaysSoLongBefore(t *testing.T) {
	const gib = 1 << 30
	var log bytes.Buffer
	tries, use := store.Resident{}, chainRoom{Growth: 10_000}
	r := newRoom(roomConfig{
		memory: 48 * gib, log: slog.New(slog.NewTextHandler(&log, nil)),
		tries: func() store.Resident { return tries }, chain: func() (chainRoom, error) { return use, nil },
	})
	for _, tt := range []struct {
		name          string
		tries         store.Resident
		chain         chainRoom
		want          []string // beginnings of sentences
		logged, words string
	}{
		{name: "young"},
		{name: "no limits known", tries: store.Resident{Bytes: gib}, chain: chainRoom{Bytes: gib}},
		{name: "below", tries: store.Resident{Bytes: 33 * gib, Arena: 0.69}, chain: chainRoom{22 * gib, 32 * gib, 300}},
		{name: "memory", tries: store.Resident{Bytes: 34 * gib}, want: []string{"71 % of the memory"}, logged: "71 %", words: "34.0 of 48.0 GiB"},
		{name: "more of it", tries: store.Resident{Bytes: 40 * gib}, want: []string{"83 % of the memory"}},
		{name: "urgent", tries: store.Resident{Bytes: 44 * gib}, want: []string{"urgent: 92 % of the memory"}, logged: "urgent", words: "--state-memory-mib"},
		{
			name: "all", tries: store.Resident{Bytes: 44 * gib, Arena: 0.9}, chain: chainRoom{25 * gib, 32 * gib, 5_632_000}, logged: "563.2 times", words: "references",
			want: []string{"urgent: 92 % of the memory", "78 % of the chain's limit", "urgent: 90 % of the records"},
		},
		{name: "room again"},
		{name: "and none again", chain: chainRoom{30 * gib, 32 * gib, 30_000_000}, want: []string{"urgent: 94 % of the chain's limit"}, logged: "3000 times"},
	} {
		log.Reset()
		tries, use = tt.tries, tt.chain
		r.measure()
		got := r.reasons()
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if !strings.Contains(log.String(), tt.logged) || tt.logged == "" && log.Len() > 0 {
			t.Errorf("%s: the log says %q, want %q", tt.name, log.String(), tt.logged)
		}
		if !strings.Contains(strings.Join(got, "\n"), tt.words) {
			t.Errorf("%s: %q is not in %q", tt.name, tt.words, got)
		}
	}
	r.cfg.chain = func() (chainRoom, error) { return chainRoom{}, store.ErrStale }
	log.Reset()
	r.measure()
	if log.Len() > 0 || len(r.reasons()) != 1 {
		t.Errorf("a head that moved on: %q, %q", log.String(), r.reasons())
	}
	r.cfg.chain = func() (chainRoom, error) { return chainRoom{}, errors.New("no such record") }
	if r.measure(); !strings.Contains(log.String(), "no such record") {
		t.Errorf("the log says %q", log.String())
	}
}

// TestHealthSaysThatRoomEnds gives a running chain a little memory for state: it
// goes on, and says that it is short.
func TestHealthSaysThatRoomEnds(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{})
	for end := time.Now().Add(time.Minute); !r.engine.Stats.Resumed.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the journal of a new chain is not read in a minute")
		}
	}
	for end := time.Now().Add(time.Minute); r.room.seen.Load().chain.Bytes == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody looks at the room of a new chain in a minute")
		}
	}
	if h := r.answers.Health(); h.Status == "degraded" && strings.Contains(strings.Join(h.Reasons, " "), "memory") {
		t.Fatalf("a new chain: %+v", h)
	}
	seen := *r.room.seen.Load()
	if p := r.ledger.Head().Force.Params; seen.chain.Bytes == 0 || seen.chain.Limit != p.State.LimitBytes || seen.chain.Growth != 10_000 || StateLimit(t.TempDir()) != p.State.LimitBytes {
		t.Errorf("what the protocol counts of a new chain: %+v", seen.chain)
	}
	if seen.tries.Bytes == 0 {
		t.Fatal("the tries of a running chain take no memory")
	}
	seen.memory = uint64(seen.tries.Bytes) * 10 / 8
	r.room.seen.Store(&seen)
	if h := r.answers.Health(); !h.Ready || h.Status != "degraded" || len(h.Reasons) == 0 || !strings.HasPrefix(h.Reasons[len(h.Reasons)-1], "80 % of the memory") {
		t.Errorf("short of memory: %+v", h)
	}
}
