package soak

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

var fullDisk = flag.Bool("full-disk", false, "run TestJournalOnAFullDisk, which mounts a disk of its own")

// smallDisk mounts a disk of so many bytes, or skips the test where that is not allowed.
func smallDisk(t *testing.T, bytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("a small disk cannot be mounted here (%v): run this as root with CAP_SYS_ADMIN", err)
	}
	if err != nil {
		t.Fatalf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// heightAt returns the height of a running node.
func heightAt(t *testing.T, p *process) uint64 {
	t.Helper()
	var h rpc.HeightReply
	if _, err := get(t.Context(), p.rpc+"/height", &h); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	return h.Height
}

// passes waits until a node is above a height.
func passes(t *testing.T, p *process, height uint64) {
	t.Helper()
	for end := time.Now().Add(patience); heightAt(t, p) <= height; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the chain stands at %d\n%s", height, p.stderr)
		}
	}
}

// ready asks whether a node is ready, and why not.
func (p *process) ready(t *testing.T, why *rpc.HealthReply) bool {
	t.Helper()
	res, err := httpClient.Get(p.rpc + "/health/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(why); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode == http.StatusOK
}

// ends waits for a process to end by itself.
func (p *process) ends(t *testing.T) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.kill()
		t.Fatalf("it did not end in %v\n%s", patience, p.stderr)
	}
}

// TestJournalOnAFullDisk puts the vote journal of a lone validator on a disk that gets
// full, while the memory of what the key signed is on one that does not (hostile.md 9,
// D1: the chain stood for ever, healthy and ready by its own word). The node ends and
// says why; when there is room, the same start goes on, since nothing is remembered that
// the journal does not have. Then the memory is put ahead of the journal, as it was left
// before it was written second: the start says which view is closed and what to do, is not
// ready, and the tool opens the way.
func TestJournalOnAFullDisk(t *testing.T) {
	if !*fullDisk {
		t.Skip("part of make soak-damage")
	}
	const size, room = 256 << 10, 24 << 10 // some dozens of views
	small := smallDisk(t, size)
	bin, dir := buildBinary(t), filepath.Join(t.TempDir(), "data")
	args := []string{"--block-time=20ms", "--free-floor-mib=0", "--checkpoint-blocks=0"}
	p := start(t, bin, dir, args...)
	passes(t, p, 2)
	p.stop(t)
	journal, disk := filepath.Join(dir, "votes.journal"), filepath.Join(small, "votes.journal")
	raw, err := os.ReadFile(journal)
	if err == nil {
		err = errors.Join(os.WriteFile(disk, raw, 0o600), os.Remove(journal), os.Symlink(disk, journal))
	}
	if err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(small, "fill")
	if err := os.WriteFile(fill, make([]byte, size-room-len(raw)), 0o600); err != nil {
		t.Fatal(err)
	}

	p = start(t, bin, dir, args...)
	p.ends(t)
	if p.code() != 1 && p.code() != 12 || !strings.Contains(p.stderr.String(), "no space left on device") || !strings.Contains(p.stderr.String(), "votes") {
		t.Fatalf("ended with %d:\n%s", p.code(), p.stderr)
	}
	t.Logf("ended with %d: %s", p.code(), lastLine(p.stderr.String()))
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	p = start(t, bin, dir, args...)
	at := heightAt(t, p)
	passes(t, p, at+3) // on its own: nothing was voted that the journal does not have
	p.stop(t)

	raiseWatermark(t, bin, dir)
	p = start(t, bin, dir, args...)
	var health rpc.HealthReply
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ready := p.ready(t, &health)
		if !ready && strings.Contains(strings.Join(health.Reasons, " "), "no votes in view") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("ready: %v, %+v\n%s", ready, health, p.stderr)
		}
	}
	at = heightAt(t, p)
	if said := p.stderr.String(); health.Ready || !strings.Contains(said, "it is closed to us") || !strings.Contains(said, "guard reopen") {
		t.Errorf("ready: %v; the log names no way out:\n%s", health.Ready, said)
	}
	p.stop(t)
	if out, err := exec.Command(bin, "guard", "reopen", "--data", dir).CombinedOutput(); err == nil {
		t.Errorf("it opens without being told that nothing was put back: %s", out)
	}
	out, err := exec.Command(bin, "guard", "reopen", "--data", dir, "--never-put-back").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
	p = start(t, bin, dir, args...)
	passes(t, p, at+3)
	p.stop(t)
}

// raiseWatermark has the memory of a stopped validator hold votes two views on, for a
// block that nobody has.
func raiseWatermark(t *testing.T, bin, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "votes.json")
	if out, err := exec.Command(bin, "guard", "export", "--data", dir, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var votes struct {
		Metadata map[string]string `json:"metadata"`
		Data     []struct {
			PeerKey string              `json:"pubkey"`
			Votes   []map[string]string `json:"signed_votes"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &votes); err != nil {
		t.Fatal(err)
	}
	for _, v := range votes.Data[0].Votes {
		view, err := strconv.ParseUint(v["view"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v["kind"] != "nullify" {
			v["parent"], v["view"], v["digest"] = v["view"], strconv.FormatUint(view+2, 10), "0x"+strings.Repeat("01", 32)
		}
	}
	if raw, err = json.Marshal(votes); err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "guard", "import", "--data", dir, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
