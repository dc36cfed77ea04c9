package gethtest

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLiveNode starts a development chain from this very tree, asks it for
// account proofs over HTTP, and checks them with nothing but go-ethereum.
func TestLiveNode(t *testing.T) {
	url := startDevnet(t)
	for _, address := range []string{
		"0x28bed3d92d2f937fb4b6c6e1e97170df4bf7e2be", // the first development account
		"0x0000000000000000000000000000000000000008", // the treasury: storage and balance
		"0x00000000000000000000000000000000deadbeef", // nobody
	} {
		t.Run(address, func(t *testing.T) {
			res, err := http.Get(url + "/proof/account/" + address)
			check(t, err)
			defer res.Body.Close()
			answer, err := io.ReadAll(res.Body)
			check(t, err)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", res.Status, answer)
			}
			name := filepath.Join(t.TempDir(), "proof.json")
			check(t, os.WriteFile(name, answer, 0o600))
			checkProofFile(t, name)
		})
	}
}

// startDevnet builds and runs cowboyd until the test ends and returns its URL.
func startDevnet(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cowboyd")
	build := exec.Command("go", "build", "-o", bin, "./cmd/cowboyd")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cowboyd: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "--log-level=error", "devnet", "--rpc-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if fields := strings.Fields(lines.Text()); len(fields) == 2 && fields[0] == "RPC" {
				found <- fields[1]
			}
		}
	}()
	select {
	case url := <-found:
		waitForBlock(t, url)
		return url
	case <-time.After(time.Minute):
		t.Fatal("cowboyd named no RPC address in a minute")
		return ""
	}
}

// waitForBlock returns once a block after genesis is final.
func waitForBlock(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		res, err := http.Get(url + "/block/1")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatal("no block in a minute")
}
