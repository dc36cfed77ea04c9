package soak

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/porttest"
)

// TestDevnetOfFour runs the command that a newcomer runs: four processes, one
// of which is killed and comes back, and an end that leaves none behind.
func TestDevnetOfFour(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	bin, dir := buildBinary(t), t.TempDir()
	net := startDevnet(t, bin, dir, "--block-time=100ms")
	urls, log := net.rpcs, &net.log
	for _, url := range urls {
		waitFor(t, url, 5, log)
	}
	documentedSeries(t, net.admins[0])
	pid := regexp.MustCompile(`validator-2 pid=(\d+)`).FindStringSubmatch(log.String())
	if pid == nil {
		t.Fatalf("no process id in the log:\n%s", log)
	}
	victim, err := strconv.Atoi(pid[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h, err := height(urls[0])
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, urls[0], h+5, log)
	waitFor(t, urls[2], h+5, log) // it is back and catches up
	net.stop(t)
	for i, url := range urls {
		if _, err := height(url); err == nil {
			t.Errorf("validator %d still serves", i)
		}
		t.Logf("validator %d: %s", i, verifyChain(t, bin, datadir.DealtFolder(dir, i)))
	}
	again := startDevnet(t, bin, dir, "--block-time=100ms") // the same command on its own folder
	waitFor(t, again.rpcs[0], h+8, &again.log)
	again.stop(t)
}

// devnet is the command "cowboyd devnet --validators=4" at work.
type devnet struct {
	cmd          *exec.Cmd
	log          lockedBuffer
	rpcs, admins []string // by validator
	stopped      bool
}

// startDevnet starts the command on free ports with a folder to keep. It ends
// with the test at the latest, and its children with it.
func startDevnet(t *testing.T, bin, dir string, args ...string) *devnet {
	t.Helper()
	args = append([]string{
		"devnet", "--validators=4", "--data", dir, "--rpc-rate=0",
		"--port-offset", strconv.Itoa(porttest.First(t, devnetPorts()...) - firstPort),
	}, args...)
	d := &devnet{cmd: exec.Command(bin, args...)}
	d.cmd.Stderr = &d.log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !d.stopped {
			_ = d.cmd.Process.Kill()
			_ = d.cmd.Wait()
		}
	})
	d.rpcs, d.admins = devnetAddresses(t, out)
	return d
}

// stop ends the command as an operator does.
func (d *devnet) stop(t *testing.T) {
	t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.stopped = true
	if err := d.cmd.Wait(); d.cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("orderly stop ended with %v\n%s", err, &d.log)
	}
}

// documentedSeries holds that a running validator serves every series that the
// operator's page names.
func documentedSeries(t *testing.T, url string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	served, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(cowboy_[a-z0-9_]+)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 20 {
		t.Errorf("the page names %d series: is it the right one?", len(named))
	}
	for _, name := range named {
		if !regexp.MustCompile("(?m)^" + name[1] + "(_count)?[{ ]").Match(served) {
			t.Errorf("%s is documented and not served", name[1])
		}
	}
}

func waitFor(t *testing.T, url string, want uint64, log *lockedBuffer) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		h, err := height(url)
		if err == nil && h >= want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is at height %d (%v), not at %d\n%s", url, h, err, want, log)
		}
	}
}

// firstPort is the RPC port of the first validator without an offset.
const firstPort = 4000

// devnetPorts are those of four validators, counted from the first one.
func devnetPorts() (offsets []int) {
	for i := range 4 {
		for k := range 4 {
			offsets = append(offsets, 10*i+k)
		}
	}
	return offsets
}
