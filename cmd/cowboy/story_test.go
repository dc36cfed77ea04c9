package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output in testdata")

// elevens is the private key that the scripts use.
var elevens = strings.Repeat("11", 32)

// A script is a story of command lines with what each prints. Its lines:
//
//	$ cowboy …       runs a command; words may be quoted with '
//	$ fund ADDR CBY  gives money out of nothing
//	$ arrears ADDR   makes an account miss rent; with a second word, it is evicted
//	$ finalize N     makes N blocks
//	$ env NAME VALUE sets a variable for the commands below
//	$ stdin TEXT     is what the next command reads
//	$ cat FILE, $ mode FILE, $ chmod MODE FILE
//	$ instant on|off decides whether a submission makes a block at once
//	# …              is a remark
//
// What follows a command up to the next $ is its stdout, with "." for an empty
// line, then lines marked with "2> " for stderr, then "exit N" if N is not 0. $DIR, $NODE and $ELEVENS stand
// for the folder, the node's address and the key. Keys that a command draws and
// what follows from them are written as <…>.
type story struct {
	t     *testing.T
	dir   string
	node  *rpctest.Chain
	url   string
	env   map[string]string
	stdin string
}

func newStory(t *testing.T) *story {
	source := rpctest.New()
	source.Instant = true
	cfg := rpc.DefaultConfig()
	cfg.Devnet, cfg.RequestsPerSecond, cfg.FaucetPerMinute = true, 0, 0
	server, err := rpc.New(cfg, source)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return &story{t: t, dir: t.TempDir(), node: source, url: web.URL, env: map[string]string{"COWBOY_RPC_URL": web.URL}}
}

// play runs every command of a script and returns the script with the output
// as it really is.
func (s *story) play(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		switch {
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "":
			out.WriteString(line)
		case strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			out.WriteString(s.tidy(s.command(words(s.expand(line[2:])))))
		}
	}
	return out.String()
}

func (s *story) expand(line string) string {
	return strings.NewReplacer("$DIR", s.dir, "$NODE", s.url, "$ELEVENS", elevens).Replace(strings.TrimSpace(line))
}

// words splits at spaces outside single quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

func (s *story) command(w []string) string {
	arg := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	switch w[0] {
	case "cowboy":
		return s.cowboy(w[1:])
	case "fund":
		addr, err := client.ParseAddress(arg(1))
		amount, err2 := client.ParseAmount(arg(2))
		if err != nil || err2 != nil {
			s.t.Fatal(err, err2)
		}
		s.node.Fund(addr, amount)
	case "arrears": // the account misses rent; with a second word, it is evicted
		addr, err := client.ParseAddress(arg(1))
		if err != nil {
			s.t.Fatal(err)
		}
		s.node.SetRent(addr, arrears(arg(2) != ""))
	case "finalize":
		for range len(arg(1)) { // one block for each character: "xxx" is three
			s.node.Finalize()
		}
	case "env":
		s.env[arg(1)] = arg(2)
	case "stdin":
		s.stdin = arg(1)
	case "instant":
		s.node.Instant = arg(1) == "on"
	case "cat":
		text, err := os.ReadFile(arg(1))
		if err != nil {
			return err.Error() + "\n"
		}
		return string(text)
	case "write":
		if err := os.WriteFile(arg(1), []byte(arg(2)+"\n"), 0o644); err != nil {
			s.t.Fatal(err)
		}
	case "mode":
		stat, err := os.Stat(arg(1))
		if err != nil {
			return err.Error() + "\n"
		}
		return fmt.Sprintln(stat.Mode())
	case "expose":
		if err := os.Chmod(arg(1), 0o644); err != nil {
			s.t.Fatal(err)
		}
	default:
		s.t.Fatalf("no command %q", w[0])
	}
	return ""
}

// cowboy runs one command line and returns all it leaves behind.
func (s *story) cowboy(args []string) string {
	code, stdout, stderr := s.run(args...)
	var out strings.Builder
	out.WriteString(stdout)
	for line := range strings.Lines(stderr) {
		out.WriteString("2> " + line)
	}
	if code != 0 {
		fmt.Fprintf(&out, "exit %d\n", code)
	}
	return out.String()
}

func (s *story) run(args ...string) (code int, stdout, stderr string) {
	var o, e bytes.Buffer
	code = run(s.t.Context(), append([]string{"--dir", s.dir}, args...), world{
		stdin: strings.NewReader(s.stdin), stdout: &o, stderr: &e,
		env: func(name string) string { return s.env[name] },
	})
	s.stdin = ""
	return code, o.String(), e.String()
}

// tidy replaces what differs from run to run.
func (s *story) tidy(text string) string {
	text = strings.NewReplacer(s.dir, "$DIR", s.url, "$NODE", elevens, "$ELEVENS").Replace(text)
	if path := filepath.Join(s.dir, ".cowboy", "key"); s.drawn(path) {
		key, err := client.ReadKey(path)
		if err != nil {
			s.t.Fatal(err)
		}
		addr := client.AddressOf(key).String()
		file := string(client.EncodeKey(key))
		text = strings.NewReplacer(addr, "<address>", strings.TrimPrefix(client.KeyHex(key), "0x"), "<key>", file, "<key file>\n").Replace(text)
	}
	text = strings.ReplaceAll(text, "\n\n", "\n.\n")
	return regexp.MustCompile(`connect: connection refused|connectex: .*`).ReplaceAllString(text, "<refused>")
}

// drawn reports whether the file holds a key that a command drew.
func (s *story) drawn(path string) bool {
	key, err := client.ReadKey(path)
	return err == nil && client.KeyHex(key) != "0x"+elevens
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(end)"
		}
		if line(w) != line(g) {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, line(w), line(g))
		}
	}
	return "nowhere"
}
