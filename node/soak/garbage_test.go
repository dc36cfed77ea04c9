package soak

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// residentBytesMax is how much the process may grow while it is fed garbage:
// its own caches fill, nothing else may stay.
const residentBytesMax = 256 << 20

// TestGarbageLeavesTheValidatorAlone sends truncated, oversized, deeply nested,
// non-canonical and random bytes to every path of a running validator. Each
// gets an error in the API's form, memory stays flat, and the chain goes on.
func TestGarbageLeavesTheValidatorAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real process: left out of -short runs, runs in make test")
	}
	bin := buildBinary(t)
	p := start(t, bin, t.TempDir(), "--block-time=50ms")
	defer p.stop(t)
	rng := rand.New(rand.NewPCG(11, 12))
	before := residentBytes(t, p.cmd.Process.Pid)
	for i := range 3000 {
		path := garbagePaths[rng.IntN(len(garbagePaths))]
		method, body := http.MethodGet, []byte(nil)
		if rng.IntN(2) == 0 {
			method, body = http.MethodPost, garbageBody(rng)
		}
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, garbageSegment(rng))
		}
		status, answer := send(t, method, p.rpc+path, body)
		if status >= 500 && status != http.StatusServiceUnavailable {
			t.Fatalf("request %d: %s %s answered %d: %s\n%s", i, method, path, status, answer, p.stderr)
		}
		if status >= 400 && !bytes.Contains(answer, []byte(`"message":`)) {
			t.Errorf("request %d: %s %s answered %d without a message: %q", i, method, path, status, answer)
		}
	}
	if grown := residentBytes(t, p.cmd.Process.Pid) - before; grown > residentBytesMax {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	(&witness{}).waitForProgress(t, p)
}

var garbagePaths = []string{
	"/submit", "/submit_wait?timeout_ms=100", "/submit_wait?timeout_ms=%s", "/faucet", "/dev/advance",
	"/block/%s", "/transaction/%s", "/transaction/%s/receipt", "/mempool/transaction/%s", "/account/%s",
	"/proof/account/%s", "/blocks?offset=%s&limit=1000000", "/%s", "/height/%s",
}

// garbageSegment is a path segment that nobody means.
func garbageSegment(rng *rand.Rand) string {
	switch rng.IntN(5) {
	case 0:
		return strings.Repeat("f", rng.IntN(200))
	case 1:
		return "0x" + strings.Repeat("9", rng.IntN(100))
	case 2:
		return "-" + strconv.FormatUint(rng.Uint64(), 10)
	case 3:
		return strconv.FormatUint(rng.Uint64(), 10)
	default:
		return "%00%ff..%2f"
	}
}

// garbageBody is a body of one of the classes that decoders must survive.
func garbageBody(rng *rand.Rand) []byte {
	switch rng.IntN(6) {
	case 0: // random
		b := make([]byte, rng.IntN(4096))
		for i := range b {
			b[i] = byte(rng.Uint64())
		}
		return b
	case 1: // a length that promises 4 GiB
		return append([]byte{0xff, 0xff, 0xff, 0xff}, 0x8d)
	case 2: // CBOR nested far too deep
		return append([]byte{0, 0, 0x80, 0}, bytes.Repeat([]byte{0x81}, 0x8000)...)
	case 3: // JSON nested far too deep
		return bytes.Repeat([]byte(`{"address":[`), 2000)
	case 4: // above every cap
		return make([]byte, 2<<20)
	default: // an array that claims 2^32 elements
		return []byte{0, 0, 0, 9, 0x9b, 0, 0, 0, 1, 0, 0, 0, 0}
	}
}

func send(t *testing.T, method, url string, body []byte) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, []byte(`"message":`) // the client itself refuses such a URL
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return http.StatusRequestEntityTooLarge, []byte(`"message":`) // the server hung up on an oversized body
	}
	defer res.Body.Close()
	answer, _ = io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, answer
}

// residentBytes reads the resident memory of a process.
func residentBytes(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skipf("memory is read from /proc, which is not here: %v", err)
	}
	fields := strings.Fields(string(raw))
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
