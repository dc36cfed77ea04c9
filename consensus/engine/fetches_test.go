package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// fakeHere is what is here in the tests of fetching: all blocks below a view.
type fakeHere struct {
	below       chain.View // views from here on are missing
	waits, line int        // backlog and undelivered
	parent      chain.View // of a hole; 0: none
	first       bool
	barred      map[beacon.Participant]bool
}

func (h *fakeHere) has(v, below chain.View) bool {
	if below > 0 {
		return below < h.below
	}
	return v < h.below
}
func (h *fakeHere) missingFrom(chain.View) chain.View { return h.below }
func (h *fakeHere) hole() (chain.View, bool)          { return h.parent, h.first }
func (h *fakeHere) backlog() int                      { return h.waits }
func (h *fakeHere) undelivered() int                  { return h.line }
func (h *fakeHere) mayAsk(p beacon.Participant, _ time.Time) bool {
	return p != 0 && !h.barred[p]
}

func newFetches(t *testing.T, here *fakeHere) (*fetches, *Stats) {
	t.Helper()
	cfg, stats := partOf(t)
	cfg.Weights = rand.NewChaCha8([32]byte{})
	speeds, err := newRates(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &fetches{cfg: cfg, stats: stats, here: here, rates: speeds}, stats
}

// asked returns who is asked for which views.
func asked(t *testing.T, effects []effect) (who []beacon.Participant, views []chain.View) {
	t.Helper()
	for _, x := range of[send](effects) {
		r, ok := x.msg.(wire.Request)
		if !ok {
			t.Fatalf("%+v is no request", x)
		}
		who, views = append(who, x.to), append(views, r.Round.View)
	}
	return who, views
}

func TestFetchesAskForWhatIsMissing(t *testing.T) {
	tests := []struct {
		name  string
		here  fakeHere
		what  simplex.Fetch
		views []chain.View
	}{
		{"a block of a view: one is asked", fakeHere{below: 5}, simplex.Fetch{View: 7}, []chain.View{7}},
		{"a range: two, while nobody is known, from what is missing on", fakeHere{below: 5}, simplex.Fetch{View: 3, Below: 9}, []chain.View{5, 5}},
		{"a range that has come", fakeHere{below: 10}, simplex.Fetch{View: 3, Below: 9}, nil},
		{"a range behind a backlog waits", fakeHere{below: 5, waits: backlogMax}, simplex.Fetch{View: 3, Below: 9}, nil},
		{"but not what holds the backlog up", fakeHere{below: 5, waits: backlogMax, parent: 9, first: true}, simplex.Fetch{View: 3, Below: 9}, []chain.View{5, 5}},
		{"nor a single block", fakeHere{below: 5, waits: backlogMax}, simplex.Fetch{View: 7}, []chain.View{7}},
		{"unless the disk is behind", fakeHere{below: 5, line: backlogMax}, simplex.Fetch{View: 7}, nil},
		{"one of two is banned, one is us", fakeHere{below: 5, barred: map[beacon.Participant]bool{1: true, 3: true}}, simplex.Fetch{View: 3, Below: 9}, []chain.View{5}},
		{"nobody can be asked", fakeHere{below: 5, barred: map[beacon.Participant]bool{1: true, 2: true, 3: true}}, simplex.Fetch{View: 7}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, stats := newFetches(t, &tt.here)
			who, views := asked(t, f.fetch(noon, tt.what))
			if !slices.Equal(views, tt.views) {
				t.Errorf("asks for %v, want %v", views, tt.views)
			}
			if len(who) == 2 && who[0] == who[1] || slices.Contains(who, 0) {
				t.Errorf("asks %v", who)
			}
			if n := stats.FetchesSent.Load(); n != uint64(len(who)) {
				t.Errorf("%d requests are counted of %d", n, len(who))
			}
			if again, _ := asked(t, f.fetch(noon, tt.what)); len(again) > 0 {
				t.Errorf("asks %v again", again)
			}
		})
	}
}

// Whoever does not answer in time is passed over, until everybody was asked once.
func TestFetchesGoRound(t *testing.T) {
	f, stats := newFetches(t, &fakeHere{below: 5})
	out := f.fetch(noon, simplex.Fetch{View: 7})
	if w := of[wake](out); len(w) != 1 || w[0].alarm != alarmFetch {
		t.Fatalf("nothing looks at the request again: %+v", out)
	}
	all, _ := asked(t, out)
	now := noon
	for range 2 {
		if early, _ := asked(t, f.tick(now.Add(f.cfg.FetchTimeout/2))); len(early) > 0 {
			t.Fatalf("%v is asked before the one before is late", early)
		}
		now = now.Add(f.cfg.FetchTimeout)
		who, _ := asked(t, f.tick(now))
		all = append(all, who...)
	}
	slices.Sort(all)
	if !slices.Equal(all, []beacon.Participant{1, 2, 3}) {
		t.Errorf("asked are %v", all)
	}
	if out := f.tick(now.Add(f.cfg.FetchTimeout)); len(out) != 0 || len(f.wants) != 0 {
		t.Errorf("a want is not given up when all were asked: %+v", out)
	}
	if n := stats.FetchesFailed.Load(); n != 3 {
		t.Errorf("%d requests failed, want 3", n)
	}
}

// An answer that brings nothing sends us on at once, and so does one that is a lie.
func TestFetchesLeaveWhoDoesNotHelp(t *testing.T) {
	f, _ := newFetches(t, &fakeHere{below: 5})
	first, _ := asked(t, f.fetch(noon, simplex.Fetch{View: 7}))
	f.ends = append(f.ends, end{first[0], 7})
	second, _ := asked(t, f.conclude(noon.Add(time.Millisecond)))
	if len(second) != 1 || second[0] == first[0] {
		t.Fatalf("after %v, who sent nothing, %v is asked", first, second)
	}
	third, _ := asked(t, f.lied(noon.Add(2*time.Millisecond), second[0]))
	if len(third) != 1 || third[0] == first[0] || third[0] == second[0] {
		t.Fatalf("after %v, who lied, %v is asked", second, third)
	}
	if len(f.ends) != 0 {
		t.Error("an answer is looked at twice")
	}
}

// What was put off is asked for when half of the backlog is gone.
func TestFetchesWaitForTheBacklog(t *testing.T) {
	here := &fakeHere{below: 5, waits: backlogMax}
	f, _ := newFetches(t, here)
	f.fetch(noon, simplex.Fetch{View: 3, Below: 9})
	f.fetch(noon, simplex.Fetch{View: 4, Below: 9})
	if len(f.parked) != 1 {
		t.Fatalf("%v is parked", f.parked)
	}
	here.waits = backlogMax/2 + 1
	expect(t, "more than half", f.drained(noon))
	here.waits = backlogMax / 2
	if _, views := asked(t, f.drained(noon)); !slices.Equal(views, []chain.View{5, 5}) || len(f.parked) != 0 {
		t.Errorf("asks for %v", views)
	}
	// When time ran out it asks behind blocks that wait too: they may be waiting for it.
	here.waits = backlogMax
	f.wants = nil
	f.fetch(noon, simplex.Fetch{View: 3, Below: 9})
	if _, views := asked(t, f.tick(noon.Add(f.cfg.FetchTimeout))); len(views) != 2 {
		t.Errorf("asks for %v when time ran out", views)
	}
}

// A block that is to come as shards is asked for when these do not suffice in time.
func TestFetchesLater(t *testing.T) {
	f, _ := newFetches(t, &fakeHere{below: 5})
	if who, _ := asked(t, f.later(noon, 7)); len(who) > 0 {
		t.Fatalf("%v is asked at once", who)
	}
	if who, _ := asked(t, f.tick(noon.Add(f.cfg.FetchTimeout/2))); len(who) > 0 {
		t.Fatalf("%v is asked too early", who)
	}
	out := f.tick(noon.Add(f.cfg.FetchTimeout))
	if who, _ := asked(t, out); len(who) != 1 || len(of[starved](out)) != 1 {
		t.Errorf("effects %+v, want a request, and word that shards do not come", out)
	}
}

// However much the machine lacks, what is remembered is bounded.
func TestFetchesAreBounded(t *testing.T) {
	f, _ := newFetches(t, &fakeHere{below: 1, waits: backlogMax})
	for v := chain.View(2); v < 500; v++ {
		f.fetch(noon, simplex.Fetch{View: v})
		f.fetch(noon, simplex.Fetch{View: v, Below: 1000 + v})
		f.tick(noon.Add(time.Duration(v) * time.Second))
		if len(f.wants) > wantsMax || len(f.parked) > wantsMax || len(f.lates) > latesMax {
			t.Fatalf("%d wants, %d parked, %d late", len(f.wants), len(f.parked), len(f.lates))
		}
		for i := range f.wants {
			if n := len(f.wants[i].next); n > wantsMax {
				t.Fatalf("%d follow one", n)
			}
		}
	}
}
