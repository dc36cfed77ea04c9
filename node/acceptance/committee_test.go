package acceptance_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/acceptance/process"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// recount runs the program that draws committees again from a node's answers and proofs.
type recount struct {
	*probe
	python   string
	genesis  string // file
	verifier *light.Verifier
}

// run says what the program prints and whether it agrees with the chain.
func (r *recount) run(rpc string, job chain.Hash, more ...string) (string, bool) {
	args := append([]string{"-B", "-m", "cowboy_sdk.committee", "--rpc", rpc, "--genesis", r.genesis, "--job", job.String()}, more...)
	cmd := exec.CommandContext(r.ctx, r.python, args...)
	cmd.Dir = "../../sdk/python"
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// lie is a node that alters its answers at one path.
type lie struct {
	name  string
	path  string                // part of it
	alter func(b []byte) []byte // of an answer
}

// flip changes the hex digit n bytes behind a text.
func flip(behind string, n int) func([]byte) []byte {
	return func(b []byte) []byte {
		at := bytes.Index(b, []byte(behind)) + len(behind) + n
		b[at] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", b[at])]
		return b
	}
}

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

// lies are answers that are each wrong in one place.
func lies() []lie {
	return []lie{
		{"a node of the trie", "/proof/multi", flip(`"nodes":["0x`, 40)},
		{"another node of the trie", "/proof/multi", flip(`"nodes":["0x`, 100)},
		{"a header", "/proof/header/", flip(`"header":"0x`, 80)},
		{"the head", "/proof/multi", flip(`"header":"0x`, 200)},
		{"the chain", "/proof/multi", flip(`"genesis":"0x`, 3)},
		{"the specification", "/terms", flip(`"spec":"0x`, 40)},
		{"the registry of then", "/storage/", flip(`"value":"0x`, 1)},
		{"a candidate", "/candidates", flip(`"runner":"0x`, 7)},
		{"a stake", "/candidates", replace(`"effective_stake":"1`, `"effective_stake":"2`)},
		{"a weight", "/candidates", replace(`"base_weight":2`, `"base_weight":3`)},
		{"no form", "/job/", func([]byte) []byte { return []byte(`{"attempt": "one"}`) }},
	}
}

// liar is a node that tells one lie until the test ends; an honest one without.
func liar(t *testing.T, node string, l lie) string {
	t.Helper()
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to) // with the Host header of the node
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: func(r *http.Response) error {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if l.alter != nil && r.StatusCode == http.StatusOK && strings.Contains(r.Request.URL.Path, l.path) {
				b = l.alter(b)
			}
			r.Body = io.NopCloser(bytes.NewReader(b))
			r.ContentLength = int64(len(b))
			r.Header.Set("Content-Length", strconv.Itoa(len(b)))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// findPython returns the Python of this machine, 3.11 or later as sdk/python needs it. It
// looks where the oracles of the Python machine do (package cpython, which these tests from
// outside leave alone).
func findPython(t *testing.T) string {
	t.Helper()
	names := []string{"python3.11", "python3"}
	if name := os.Getenv("PYTHON311"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if exec.Command(name, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() == nil {
			return name
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("Python 3.11 is required in CI (set PYTHON311)")
	}
	t.Skip("SKIPPED, there is no Python 3.11 on this machine (set PYTHON311)")
	return ""
}

// TestCommitteesFromProofsAlone: anybody can draw the committee of a job again, by either
// source of seeds, in the first attempt and in a later one, and finds out where a node lies.
func TestCommitteesFromProofsAlone(t *testing.T) {
	if !*onDevnet {
		t.Skip("starts four validators twice: runs in make acceptance")
	}
	python := findPython(t)
	for seed, lies := range map[string][]lie{params.SelectionSeedSubmission: lies(), params.SelectionSeedBeacon: nil} {
		t.Run(seed, func(t *testing.T) {
			d := process.Start(t, func(p *params.Params) {
				shorten(p)
				p.Job.SelectionSeed = seed
			})
			bank := setup.DevAccounts()[0]
			net := &devnet{nodes: d.Nodes, chainID: d.Genesis.ChainID, params: d.Genesis.Params, genesis: d.Genesis.Hash(), bank: &account{key: bank.Key, addr: bank.Address}}
			file := filepath.Join(t.TempDir(), "genesis.json")
			text, err := d.Genesis.MarshalJSON()
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			verifier, err := light.NewVerifier(d.Genesis)
			if err != nil {
				t.Fatal(err)
			}
			p := &probe{T: t, net: net}
			for _, wrong := range p.run(func(p *probe) { committees(&recount{p, python, file, verifier}, lies) }) {
				t.Error(wrong)
			}
		})
	}
}

// committees asks for a job of one runner and one of two runners that are silent.
func committees(r *recount, lies []lie) {
	s := r.scene("recount")
	s.runners(6)
	rpc := s.net.nodes[0].URL()
	holds := func(what, rpc string, job chain.Hash, more ...string) {
		if out, ok := r.run(rpc, job, more...); !ok {
			s.errorf("%s: %s", what, out)
		}
	}
	one := s.job()
	one.Spec.TimeoutBlocks = 5_000 // nobody answers
	single := s.ask(one)
	s.drawn(single.id, 0)
	holds("one runner", rpc, single.id)
	holds("through an honest proxy", liar(r.T, rpc, lie{}), single.id)
	for _, l := range lies {
		if out, ok := r.run(liar(r.T, rpc, l), single.id); ok || !strings.Contains(out, "refused: ") {
			s.errorf("a node that lies about %s is believed: %s", l.name, out)
		}
	}

	two := s.pair()
	two.Spec.TimeoutBlocks = 300 // an attempt without commitments takes 180 blocks
	pair := s.ask(two)
	s.drawn(pair.id, 1)
	kept := r.TempDir()
	out, ok := r.run(rpc, pair.id, "--out", kept)
	if !ok || !strings.Contains(out, "attempt 2, seed") {
		s.errorf("a retry: %s", out)
	}
	for _, name := range []string{"state.json", fmt.Sprintf("header-%d.json", pair.at)} { // its certificate is what the program leaves to others
		text, err := os.ReadFile(filepath.Join(kept, name))
		if err == nil {
			_, err = r.verifier.Verify(text)
		}
		if err != nil {
			s.errorf("%s is no proof: %v", name, err)
		}
	}
	nobody := s.job()
	nobody.Spec.JobType.(*chain.HTTPJob).URL = "https://nobody." + s.domain + "/"
	over := s.ask(nobody)
	s.ended(over.id)
	holds("a job without candidates", rpc, over.id)
	done := s.job()
	done.Spec.TimeoutBlocks = s.net.params.Job.MinWindowBlocks + 1 // the one that is free is silent
	short := s.ask(done)
	s.ended(short.id)
	if out, ok := r.run(rpc, short.id); !ok || !strings.Contains(out, "1 candidates:") || !strings.Contains(out, " of 6 runners are candidates; 0 more") { // candidates out of the state of then
		s.errorf("a job that is over: %s", out)
	}
	holds("a retry, with candidates of before", rpc, pair.id, "--candidates", filepath.Join(kept, "candidates.json"))
	if out, ok := r.run(rpc, single.id, "--candidates", filepath.Join(kept, "candidates.json")); ok {
		s.errorf("a job with the candidates of another: %s", out)
	}
}
