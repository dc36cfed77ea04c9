package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// binary is cowboyd, compiled once for all tests.
var binary struct {
	once sync.Once
	dir  string
	err  error
}

// buildBinary compiles cowboyd into a temporary folder, which TestMain removes.
func buildBinary(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "cowboy-soak-"); binary.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", binary.dir, "github.com/cowboy-foundation/cowboy/cmd/cowboyd")
		if out, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatalf("build cowboyd: %v", binary.err)
	}
	return filepath.Join(binary.dir, "cowboyd")
}

// process is one run of the binary.
type process struct {
	cmd    *exec.Cmd
	rpc    string // base URL
	admin  string // base URL of the admin pages
	stderr *lockedBuffer
	exited chan struct{}
	err    error // valid once exited is closed
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// patience is how long a test waits for what must come: a loaded machine is slow.
const patience = 2 * time.Minute

// start runs a devnet on free ports and waits until it names its addresses.
func start(t *testing.T, bin, dataDir string, args ...string) *process {
	t.Helper()
	return launch(t, bin, append([]string{
		"--log-level=warn", "devnet", "--data", dataDir, "--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0", "--rpc-rate=0",
	}, args...)...)
}

// launch runs the binary and waits until it names its addresses.
func launch(t *testing.T, bin string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(bin, args...), stderr: &lockedBuffer{}, exited: make(chan struct{})}
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serves := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			switch fields := strings.Fields(lines.Text()); {
			case len(fields) == 2 && fields[0] == "RPC":
				p.rpc = fields[1]
			case len(fields) == 2 && fields[0] == "metrics":
				p.admin = strings.TrimSuffix(fields[1], "/metrics")
				close(serves)
			}
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	select {
	case <-serves:
	case <-p.exited:
		t.Fatalf("cowboyd ended at start: %v\n%s", p.err, p.stderr)
	case <-time.After(patience):
		p.kill()
		t.Fatalf("cowboyd named no address in %v\n%s", patience, p.stderr)
	}
	return p
}

// kill sends SIGKILL and waits for the end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// code is the exit code of a process that has ended; -1 where it was killed.
func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// stop asks for an orderly end and fails the test when it does not come.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		if p.code() != 128+int(syscall.SIGTERM) {
			t.Errorf("orderly stop ended with %v\n%s", p.err, p.stderr)
		}
	case <-time.After(patience):
		p.kill()
		t.Errorf("no orderly stop in %v\n%s", patience, p.stderr)
	}
}

// verifyChain runs cowboyd verify on a stopped node's folder.
func verifyChain(t *testing.T, bin, dataDir string) string {
	t.Helper()
	out, err := exec.Command(bin, "verify", "--data", dataDir).Output()
	if err != nil {
		var detail []byte
		if exit, ok := err.(*exec.ExitError); ok {
			detail = exit.Stderr
		}
		t.Fatalf("cowboyd verify: %v\n%s", err, detail)
	}
	return strings.TrimSpace(string(out))
}

var httpClient = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// get decodes a JSON answer; ok is false for 404 and for a node that is gone.
func get(ctx context.Context, url string, into any) (ok bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return false, err
	}
	if res.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("GET %s: %s: %s", url, res.Status, raw)
	}
	return true, json.Unmarshal(raw, into)
}

// post sends a body and decodes the answer.
func post(ctx context.Context, url string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := httpClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("POST %s: %s: %s", url, res.Status, raw)
	}
	return json.Unmarshal(raw, into)
}

// settled submits transactions and waits for the receipts of those that are taken,
// for longer than one request may.
func settled(ctx context.Context, p *process, wire []byte) ([]rpc.SubmitWaitResult, error) {
	var reply rpc.SubmitWaitReply
	if err := post(ctx, p.rpc+"/submit_wait?timeout_ms=10000", wire, &reply); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, p.stderr)
	}
	for i := range reply.Results {
		for r := &reply.Results[i]; r.Accepted && r.Receipt == nil; _ = sleepCtx(ctx, 20*time.Millisecond) {
			var final rpc.ReceiptReply
			if ok, err := get(ctx, p.rpc+"/transaction/"+r.Hash+"/receipt", &final); err != nil {
				return nil, fmt.Errorf("transaction %s: %w\n%s", r.Hash, err, p.stderr)
			} else if ok {
				r.Receipt = &final
			}
		}
	}
	return reply.Results, nil
}

func TestMain(m *testing.M) {
	if beStranger() {
		return
	}
	// The tests wait for their processes most of the time, so twice as many as
	// usual run beside each other; -parallel on the command line goes over this.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(binary.dir)
	os.Exit(code)
}
