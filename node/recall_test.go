package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestRollBackShowsNoLowerHeight deletes the store of a chain, whose journal has
// all of it. The API says that it is starting until the blocks are back, and never
// shows a height below the one that it had shown.
func TestRollBackShowsNoLowerHeight(t *testing.T) {
	dir := t.TempDir()
	opts := setup.DevnetOptions{BlockTime: 5 * time.Millisecond}
	first := run(t, dir, opts)
	var shown rpc.HeightReply
	for end := time.Now().Add(time.Minute); shown.Height < 60; time.Sleep(10 * time.Millisecond) {
		if first.get(t, "/height", &shown); time.Now().After(end) {
			t.Fatalf("height %d", shown.Height)
		}
	}
	var before rpc.BlockReply
	first.get(t, fmt.Sprintf("/block/%d", shown.Height), &before)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, datadir.StoreFolder)); err != nil {
		t.Fatal(err)
	}

	second := run(t, dir, opts)
	refused := 0
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the API never answered")
		}
		var health rpc.HealthReply
		second.get(t, "/health", &health)
		if health.Height < shown.Height {
			t.Fatalf("/health shows %d and had shown %d", health.Height, shown.Height)
		}
		res, err := http.Get(second.url + "/height")
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusServiceUnavailable {
			var why rpc.ErrorReply
			if err := json.NewDecoder(res.Body).Decode(&why); err != nil || why.Code != rpc.CodeNotReady || !strings.Contains(why.Message, "starting") || res.Header.Get("Retry-After") == "" {
				t.Fatalf("refused with %+v, Retry-After %q (%v)", why, res.Header.Get("Retry-After"), err)
			}
			res.Body.Close()
			refused++
			continue
		}
		var now rpc.HeightReply
		if decode(t, res, &now); now.Height < shown.Height {
			t.Fatalf("height %d, and it had shown %d", now.Height, shown.Height)
		}
		break
	}
	if refused == 0 {
		t.Error("no request was refused: the replay was not seen")
	}
	var after rpc.BlockReply
	if second.get(t, fmt.Sprintf("/block/%d", shown.Height), &after); after.Hash != before.Hash {
		t.Errorf("block %d was %s and is %s", shown.Height, before.Hash, after.Hash)
	}
}

// TestWhereAReplayEnds is about the block that the store has to reach.
func TestWhereAReplayEnds(t *testing.T) {
	hash := func(n int) chain.Hash { return chain.Hash{byte(n), 1} }
	// Block h is of view 10h, on the block before it; views between were empty.
	chainOf := func(from, to int) map[chain.Hash]datadir.JournaledBlock {
		blocks := map[chain.Hash]datadir.JournaledBlock{}
		for h := from; h <= to; h++ {
			blocks[hash(h)] = datadir.JournaledBlock{Parent: hash(h - 1), Height: chain.Height(h), View: chain.View(10 * h)}
		}
		return blocks
	}
	f := func(name string, oldest chain.View, finals []int, blocks map[chain.Hash]datadir.JournaledBlock, head int, want chain.Height, linked bool) {
		t.Helper()
		r := &recall{oldest: oldest}
		views := map[chain.View]chain.Hash{}
		for _, h := range finals {
			views[chain.View(10*h)] = hash(h)
		}
		r.aim(datadir.Journaled{Finals: views, Blocks: blocks}, datadir.JournaledBlock{Parent: hash(head), Height: chain.Height(head), View: chain.View(10 * head)})
		if r.height != want || r.linked != linked || r.view != chain.View(10*want) {
			t.Errorf("%s: block %d of view %d, linked %v; want %d, %v", name, r.height, r.view, r.linked, want, linked)
		}
	}
	f("nothing", 0, nil, nil, 0, 0, false)
	f("level", 10, []int{1, 2, 3}, chainOf(1, 3), 3, 0, false)
	f("store ahead", 10, []int{1, 2}, chainOf(1, 2), 5, 0, false)
	f("store lost", 10, []int{1, 2, 3}, chainOf(1, 3), 0, 3, true)
	f("store older", 10, []int{1, 2, 3, 4}, chainOf(1, 4), 2, 4, true)
	f("final by a descendant", 10, []int{1, 4}, chainOf(1, 4), 2, 4, true)
	f("blocks that are not final do not count", 10, []int{1, 2}, chainOf(1, 9), 1, 2, true)
	f("pruned above the store", 500, []int{50, 51, 52}, chainOf(50, 52), 7, 50, false)
	behind := chainOf(1, 3) // it follows the tip by certificates and lacks the blocks between
	behind[hash(80)] = datadir.JournaledBlock{Parent: hash(79), Height: 80, View: 800}
	f("catching up", 10, []int{2, 3, 80}, behind, 1, 3, true)
	f("catching up, level with what it had", 10, []int{2, 3, 80}, behind, 3, 0, false)
}

// TestHealthBeforeTheReplay: before the engine has read its journal back, /health shows
// the height that the journal has, and not that of a store which lost it.
func TestHealthBeforeTheReplay(t *testing.T) {
	dir := t.TempDir()
	genesis, err := setup.PrepareDevnet(dir, setup.DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet = dir, true
	n, err := Open(cfg, genesis, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.recall.height = 61
	if h := n.answers.Health(); h.Height != 61 || h.Ready || h.Status != "starting" {
		t.Errorf("health before the replay: %+v", h)
	}
}
