package examples_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

const (
	validators = 4
	firstPort  = 4000            // of the RPC of the first validator, without an offset
	patience   = 3 * time.Minute // for what must come on a loaded machine
	blockTime  = "60ms"
)

// devnet is "cowboyd devnet --validators=4" at work, and how to ask its nodes.
type devnet struct {
	nodes   []*client.Client
	chainID uint64
	params  params.Params
	bank    *account            // pays for everybody
	runners map[string]*account // by address
}

// log is what a process says, read by the test when it has failed.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// shorten lets a runner take several jobs, and be heard once while the tests run.
func shorten(p *params.Params) {
	p.Job.RequirePrice = true // as CIP-2 §3 and real chains have it
	p.Job.ChallengeWindowBlocks = 5
	p.Runner.ProbationSuccesses, p.Runner.HeartbeatTimeoutBlocks = 0, 50_000
}

// start builds the program, runs it until the test ends, and waits for its first blocks.
func start(t *testing.T) *devnet {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "cowboyd")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/cowboy-foundation/cowboy/cmd/cowboyd").CombinedOutput(); err != nil {
		t.Fatalf("build cowboyd: %v\n%s", err, out)
	}
	var ports []int
	for i := range validators {
		for k := range 4 {
			ports = append(ports, 10*i+k)
		}
	}
	said := &log{}
	cmd := exec.Command(bin, "devnet", "--validators="+strconv.Itoa(validators), "--data", filepath.Join(dir, "chain"),
		"--genesis", devtest.Genesis(t, shorten), "--block-time="+blockTime, "--rpc-rate=0",
		"--port-offset", strconv.Itoa(porttest.First(t, ports...)-firstPort))
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its children
		_ = cmd.Wait()
		if t.Failed() {
			fmt.Fprintln(os.Stderr, said)
		}
	})
	d := &devnet{bank: &account{key: setup.DevAccounts()[0].Key, addr: setup.DevAccounts()[0].Address}}
	for _, url := range announced(t, out) {
		cfg := client.DefaultConfig()
		cfg.URL = url
		node, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		d.nodes = append(d.nodes, node)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, node := range d.nodes {
		for h := chain.Height(0); h < 3; time.Sleep(20 * time.Millisecond) {
			if h, _ = node.Height(ctx); ctx.Err() != nil {
				t.Fatalf("%s has no blocks in %v", node.URL(), patience)
			}
		}
	}
	g, err := d.nodes[0].Genesis(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d.chainID, d.params = g.ChainID, g.Params
	return d
}

var announcement = regexp.MustCompile(`RPC \d+ +(\S+) +metrics`)

// announced reads the addresses of the nodes from what the program prints.
func announced(t *testing.T, out io.Reader) (urls []string) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for len(urls) < validators && lines.Scan() {
		if m := announcement.FindStringSubmatch(lines.Text()); m != nil {
			urls = append(urls, m[1])
		}
	}
	go func() {
		for lines.Scan() { // ends with the program
		}
	}()
	if len(urls) != validators {
		t.Fatalf("%d validators announced themselves, not %d", len(urls), validators)
	}
	return urls
}
