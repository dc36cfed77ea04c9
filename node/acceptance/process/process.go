// Package process runs a development chain as its user does, for tests from outside: cowboyd
// is built and started, and asked over its API alone.
//
// In: what the genesis has other than a devnet's. Out: clients of four validators that make
// blocks until the test ends. It is a kit for tests.
package process

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
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/porttest"
)

const (
	validators = 4
	firstPort  = 4000            // of the RPC of the first validator, without an offset
	patience   = 3 * time.Minute // for the first blocks on a loaded machine
	blockTime  = "60ms"
)

// Devnet is "cowboyd devnet --validators=4" at work.
type Devnet struct {
	Nodes   []*client.Client
	Genesis *genesis.Genesis
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

// Start builds the program, runs it until the test ends with parameters that change has set,
// and waits for its first blocks.
func Start(t *testing.T, change func(*params.Params)) *Devnet {
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
		"--genesis", devtest.Genesis(t, change), "--block-time="+blockTime, "--rpc-rate=0",
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
	d := &Devnet{}
	for _, url := range announced(t, out) {
		cfg := client.DefaultConfig()
		cfg.URL = url
		node, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		d.Nodes = append(d.Nodes, node)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, node := range d.Nodes {
		for h := chain.Height(0); h < 3; time.Sleep(20 * time.Millisecond) {
			if h, _ = node.Height(ctx); ctx.Err() != nil {
				t.Fatalf("%s has no blocks in %v", node.URL(), patience)
			}
		}
	}
	if d.Genesis, err = d.Nodes[0].Genesis(ctx); err != nil {
		t.Fatal(err)
	}
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
