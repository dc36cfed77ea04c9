package node

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/trial"
)

// topologyRows reads the two tables of topology.go: names of goroutines, and depth with
// unit of each queue. A queue with two bounds has two entries.
func topologyRows(t *testing.T) (goroutines []string, queues map[string][]string) {
	t.Helper()
	src, err := os.ReadFile("topology.go")
	if err != nil {
		t.Fatal(err)
	}
	queues = map[string][]string{}
	table, last := "", ""
	for line := range strings.Lines(string(src)) {
		row, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		switch {
		case !is && line != "//\n":
			table = "" // the comment is over, or says the rest in sentences
		case !is:
		case strings.HasPrefix(row, "goroutine"), strings.HasPrefix(row, "queue"):
			table = row[:5]
		case strings.HasPrefix(row, "-"):
		case table == "gorou" && row[0] != ' ':
			goroutines = append(goroutines, strings.TrimSpace(row[:17]))
		case table == "queue":
			if row[0] != ' ' {
				last = strings.TrimSpace(row[:18])
			}
			queues[last] = append(queues[last], strings.Join(strings.Fields(string([]rune(row)[39:65])), " "))
		}
	}
	return goroutines, queues
}

// TestTopologyNamesTheParts: each part that a node starts is a goroutine of the page.
func TestTopologyNamesTheParts(t *testing.T) {
	rows, _ := topologyRows(t)
	named := strings.Join(rows, "\n")
	also := map[part]string{partSignatures: "signatures ×N", partTrials: "trials ×2", partRPC: "RPC, admin pages", partAdmin: "RPC, admin pages"}
	for p := range numParts {
		name := parts[p].name
		if also[p] != "" {
			name = also[p]
		}
		if !slices.Contains(rows, name) {
			t.Errorf("topology.go has no row for the part %q; it has\n%s", parts[p].name, named)
		}
	}
	if want := fmt.Sprintf("trials ×%d", trial.DefaultConfig().Workers); !slices.Contains(rows, want) {
		t.Errorf("topology.go has no row %q", want)
	}
}

// TestTopologyGivesTheDepths holds the depths of queues to the settings that make them.
func TestTopologyGivesTheDepths(t *testing.T) {
	_, rows := topologyRows(t)
	count := func(n int, unit string) string {
		s := fmt.Sprint(n)
		if n >= 1000 {
			s = fmt.Sprintf("%d,%03d", n/1000, n%1000)
		}
		return s + " " + unit
	}
	bytes := func(n int) string { return fmt.Sprintf("%d MiB bytes", n>>20) }
	params := params.Default()
	sig, eng, mesh := sigverify.DefaultConfig(1), engine.DefaultConfig(&params), p2p.DefaultConfig(1<<20).Limits
	for name, want := range map[string][]string{
		"raw":          {count(sig.QueueTxs, "transactions"), bytes(sig.QueueBytes)},
		"peers":        {count(eng.InboxMessages, "messages"), fmt.Sprintf("%d largest blocks", eng.PendingBytesMax/eng.MaxBlockBytes)},
		"inbox":        {count(eng.InboxMessages, "messages")},
		"undelivered":  {count(eng.UndeliveredMax, "blocks")},
		"trials":       {count(trial.DefaultConfig().Queue, "calls")},
		"evidence":     {count(evidenceQueued, "proofs")},
		"settled":      {count(evidenceQueued, "offences")},
		"votes":        {count(mesh[p2p.Votes].QueueMessages, "messages")},
		"certificates": {count(mesh[p2p.Certificates].QueueMessages, "messages")},
		"fetch":        {count(mesh[p2p.Fetch].QueueMessages, "messages")},
		"blocks":       {bytes(mesh[p2p.Blocks].QueueBytes) + ", or 4"},
		"shards":       {count(mesh[p2p.Shards].QueueMessages, "messages"), bytes(mesh[p2p.Shards].QueueBytes) + ", or 4"},
		"transactions": {bytes(mesh[p2p.Transactions].QueueBytes)},
		"state":        {count(mesh[p2p.State].QueueBytes/mesh[p2p.State].FrameBytesMax, "largest chunks")},
	} {
		if !slices.Equal(rows[name], want) {
			t.Errorf("topology.go says of queue %q %q, the settings make it %q", name, rows[name], want)
		}
	}
}

// queuesOf names the row of each channel of the node that holds more than one element,
// by the folder and the expression of its length.
var queuesOf = map[string]string{
	"node evidenceQueued":                "evidence",
	"node/query depth":                   "subscribers",
	"node/rpc storedEncodings":           "", // places of who encodes
	"node/ledger requestsQueued":         "ledger's inbox",
	"node/ledger eventsQueued":           "finalized",
	"node/statesync inboxLen":            "requests of state", // and the client's
	"node/submitted queueBatches":        "submitted",
	"node/repair peersMax":               "requests of parts",
	"node/trial b.cfg.Workers":           "", // the ends of its workers
	"consensus/engine cfg.InboxMessages": "peers",
	"consensus/engine cfg.Set.Len()":     "", // each link once
}

// TestTopologyHasTheChannels: a channel that holds more than one element is a queue of
// the page.
func TestTopologyHasTheChannels(t *testing.T) {
	_, rows := topologyRows(t)
	found := map[string]bool{}
	for _, root := range []string{".", "../consensus/engine", "../lanes"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Join("node", filepath.Dir(name))), "../")
			if d.IsDir() && (name == "simnode" || name == "rpc/rpctest" || name == "devtest" || name == "soak") {
				return filepath.SkipDir // kits for tests
			}
			if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			for _, length := range channelLengths(t, name) {
				key := dir + " " + length
				found[key] = true
				row, known := queuesOf[key]
				if !known {
					t.Errorf("%s makes a channel of length %s: give it a row in topology.go, and name the row in queuesOf", name, length)
				} else if row != "" && rows[row] == nil {
					t.Errorf("topology.go has no row %q for the channel of %s", row, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range queuesOf {
		if !found[key] {
			t.Errorf("queuesOf names %q, which makes no channel", key)
		}
	}
}

// channelLengths returns the lengths of the channels that a file makes, but 0 and 1.
func channelLengths(t *testing.T, name string) (lengths []string) {
	t.Helper()
	fset := token.NewFileSet()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(fset, name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		fun, ok := call.Fun.(*ast.Ident)
		if _, channel := call.Args[0].(*ast.ChanType); !ok || fun.Name != "make" || !channel {
			return true
		}
		at := func(p token.Pos) int { return fset.Position(p).Offset }
		if length := string(src[at(call.Args[1].Pos()):at(call.Args[1].End())]); length != "1" {
			lengths = append(lengths, length)
		}
		return true
	})
	return lengths
}

// TestLanesHearFirst: a reader who sees a block and sends the next nonce finds lanes that
// know of the block.
func TestLanesHearFirst(t *testing.T) {
	var names []string
	for _, l := range new(Node).finalListeners() {
		names = append(names, l.name)
	}
	lanes, readers := slices.Index(names, "lanes"), slices.Index(names, "readers")
	if lanes < 0 || readers < lanes {
		t.Errorf("final blocks are told to %v", names)
	}
}

// TestOwnersAreNamed: the page has a sentence for each owner whose time is counted.
func TestOwnersAreNamed(t *testing.T) {
	families, err := opened(t).registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var counted, named []string
	for _, f := range families {
		if f.GetName() == "cowboy_serial_seconds_total" {
			for _, m := range f.GetMetric() {
				counted = append(counted, m.GetLabel()[0].GetValue())
			}
		}
	}
	src, err := os.ReadFile("topology.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		if rest, is := strings.CutPrefix(line, "//   - "); is {
			owner, _, _ := strings.Cut(rest, ":")
			named = append(named, owner)
		}
	}
	slices.Sort(counted)
	slices.Sort(named)
	if len(counted) == 0 || !slices.Equal(counted, named) {
		t.Errorf("counted are %v, topology.go names %v", counted, named)
	}
}
