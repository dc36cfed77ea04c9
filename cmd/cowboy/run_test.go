package main

import (
	"bytes"
	"encoding/json"
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

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := newStory(t).play(string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("output differs; -rewrite accepts it:\n%s", firstDifference(string(text), got))
			}
		})
	}
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

// leaves returns the commands of the grammar, as words.
func leaves() [][]string {
	return [][]string{
		{"init"},
		{"wallet", "create"},
		{"wallet", "import"},
		{"wallet", "export"},
		{"wallet", "address"},
		{"wallet", "balance"},
		{"wallet", "fund"},
		{"transfer"},
		{"account", "balance"},
		{"account", "nonce"},
		{"account", "info"},
		{"block", "by-height"},
		{"block", "by-hash"},
		{"block", "latest"},
		{"transaction", "submit"},
		{"transaction", "get"},
		{"transaction", "status"},
		{"transaction", "sign-hash"},
		{"query", "blocks"},
		{"query", "transactions"},
		{"query", "height"},
		{"query", "basefee"},
		{"actor", "new"},
		{"actor", "address"},
		{"actor", "deploy"},
		{"actor", "execute"},
		{"actor", "read"},
		{"actor", "get"},
		{"actor", "logs"},
		{"actor", "fund-actor"},
		{"actor", "upgrade-actor"},
		{"entitlement", "grant"},
		{"entitlement", "delegate"},
		{"entitlement", "revoke"},
		{"entitlement", "create-role"},
		{"entitlement", "assign-role"},
		{"entitlement", "revoke-role"},
		{"entitlement", "show"},
		{"entitlement", "list"},
		{"entitlement", "holder"},
		{"token", "create"},
		{"token", "transfer"},
		{"token", "transfer-from"},
		{"token", "transfer-batch"},
		{"token", "approve"},
		{"token", "mint"},
		{"token", "burn"},
		{"token", "freeze"},
		{"token", "unfreeze"},
		{"token", "set-owner"},
		{"token", "set-hooks"},
		{"token", "info"},
		{"token", "balance"},
		{"token", "list"},
		{"dev"},
		{"version"},
	}
}

func TestEveryCommandTeachesByExample(t *testing.T) {
	s := newStory(t)
	for _, leaf := range leaves() {
		code, stdout, stderr := s.run(append(leaf, "--help")...)
		_, example, found := strings.Cut(stdout, "Example:")
		if code != 0 || stderr != "" || !found || !strings.Contains(example, strings.Join(leaf, " ")) {
			t.Errorf("%v --help: code %d, no example in\n%s%s", leaf, code, stdout, stderr)
		}
	}
}

// TestClientsThatParseOurOutput holds the lines that existing programs look
// for, with the patterns they use.
func TestClientsThatParseOurOutput(t *testing.T) {
	s := newStory(t)
	s.env["COWBOY_RPC_URL"] = ""
	want := func(pattern string, args ...string) string {
		t.Helper()
		code, stdout, stderr := s.run(append([]string{"--indexer-url", s.url}, args...)...)
		found := regexp.MustCompile(pattern).FindStringSubmatch(strings.TrimSpace(stdout))
		if code != 0 || found == nil {
			t.Fatalf("%v: code %d, no %s in\n%s%s", args, code, pattern, stdout, stderr)
		}
		return found[len(found)-1]
	}
	want(`cowboy\s+([\d.]+)`, "version")
	addr := want(`Wallet address:\s*(0x[a-fA-F0-9]+)`, "init", "dev")
	want(`\n?\s*Next steps:[\s\S]*$`, "init", "dev")
	if bare := want(`^(0x[a-fA-F0-9]{40})$`, "wallet", "address"); bare != addr {
		t.Errorf("wallet address %s, init said %s", bare, addr)
	}
	want(`Transaction hash:\s*(0x)?([a-fA-F0-9]{64})`, "transfer", "--to", "0x"+elevens[:40], "--amount", "1")
	source := filepath.Join(s.dir, "counter.py")
	if err := os.WriteFile(source, []byte(template), 0o644); err != nil {
		t.Fatal(err)
	}
	deploy := []string{"actor", "deploy", "--code", source, "--salt", "0x" + elevens[:32], "--cycles-limit", "10000000", "--cells-limit", "10000000"}
	want(`Actor address:\s*(0x[a-fA-F0-9]{40})`, deploy...)
	want(`Transaction hash:\s*(0x)?([a-fA-F0-9]{64})`, deploy...)
	want(`Actor deployment transaction submitted successfully`, deploy...)
	want(`Transaction hash:\s*(0x)?([a-fA-F0-9]{64})`, "actor", "execute", "--actor", theActor, "--handler", "add", "--payload", "7b7d")
	_, stdout, _ := s.run("transaction", "sign-hash", "--hash", "0x"+elevens)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var sig struct {
		R, S string
		V    *int
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sig); err != nil || sig.V == nil || len(sig.R) != 66 || len(sig.S) != 66 {
		t.Errorf("sign-hash prints %q: %v", stdout, err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, ".cowboy", "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Active       string
		Environments map[string]struct {
			RPCURL        string `json:"rpc_url"`
			WalletAddress string `json:"wallet_address"`
		}
	}
	if err := json.Unmarshal(text, &config); err != nil || config.Environments[config.Active].RPCURL != s.url || config.Environments[config.Active].WalletAddress != addr {
		t.Errorf("config %s: %v", text, err)
	}
}

// theActor is the one of the chain in memory.
var theActor = rpctest.ActorAddress.String()

// TestJSONEverywhere runs every command with --json and wants one line of JSON.
func TestJSONEverywhere(t *testing.T) {
	s := newStory(t)
	to := "0x" + strings.Repeat("22", 20)
	s.run("init", "local")
	_, stdout, _ := s.run("--json", "transfer", "--to", to, "--amount", "1", "--wait")
	var receipt rpc.ReceiptReply
	if err := json.Unmarshal([]byte(stdout), &receipt); err != nil {
		t.Fatal(err, stdout)
	}
	for _, args := range [][]string{
		{"init", "local"},
		{"wallet", "create", "--force"},
		{"wallet", "import", "--hex", elevens, "--force"},
		{"wallet", "export", "--reveal"},
		{"wallet", "address"},
		{"wallet", "balance"},
		{"wallet", "fund"},
		{"transfer", "--to", to, "--amount", "1"},
		{"transfer", "--to", to, "--amount", "1", "--dry-run"},
		{"account", "balance"},
		{"account", "nonce"},
		{"account", "info", to},
		{"block", "by-height", "1"},
		{"block", "by-hash", receipt.BlockHash},
		{"block", "latest"},
		{"transaction", "get", receipt.TxHash},
		{"transaction", "status", receipt.TxHash},
		{"transaction", "sign-hash", "--hash", elevens},
		{"query", "blocks"},
		{"query", "transactions"},
		{"query", "height"},
		{"query", "basefee"},
		{"actor", "new", "adder"},
		{"actor", "address", "--code", s.dir + "/adder.py", "--salt", "0x01"},
		{"actor", "deploy", "--code", s.dir + "/adder.py", "--salt", "0x01"},
		{"actor", "deploy", "--code", s.dir + "/adder.py", "--salt", "0x02", "--wait"},
		{"actor", "execute", "--actor", theActor, "--handler", "add", "--args", "5"},
		{"actor", "execute", "--actor", theActor, "--handler", "add", "--payload", "7b7d", "--wait"},
		{"actor", "read", "--actor", theActor, "--handler", "get"},
		{"actor", "get", theActor},
		{"actor", "logs", theActor},
		{"actor", "fund-actor", "--actor", theActor, "--amount", "1"},
		{"actor", "upgrade-actor", theActor, "--code", s.dir + "/adder.py"},
		{"entitlement", "grant", "--to", theActor, "--scope", "runner_pool:eu", "--action", "runner_join_pool:eu"},
		{"entitlement", "list", theActor},
		{"entitlement", "holder", "runner_pool:eu"},
		{"dev", "--code", s.dir + "/adder.py", "--handler", "add", "--args", "5"},
		{"version"},
	} {
		code, stdout, stderr := s.run(append(args, "--json")...)
		if code != 0 || !json.Valid([]byte(stdout)) || strings.Count(stdout, "\n") != 1 {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"block", "by-height", "999"}, {"nonsense"}, {"transfer", "--to", "x", "--amount", "1"}} {
		code, stdout, stderr := s.run(append(args, "--json")...)
		var f failure
		if err := json.Unmarshal([]byte(stderr), &f); err != nil || code == 0 || stdout != "" || f.Message == "" {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

// TestKeysStayOutOfTheOutput runs commands on a known key and looks for it in
// everything they print.
func TestKeysStayOutOfTheOutput(t *testing.T) {
	s := newStory(t)
	to := "0x" + strings.Repeat("22", 20)
	base64 := "ERERERER"
	for _, args := range [][]string{
		{"wallet", "import", "--hex", elevens},
		{"wallet", "import", "--hex", elevens},
		{"wallet", "import", "--hex", elevens[1:]},
		{"init", "local"},
		{"wallet", "address"},
		{"wallet", "balance"},
		{"wallet", "export"},
		{"wallet", "fund"},
		{"transfer", "--to", to, "--amount", "1"},
		{"--private-key", elevens, "wallet", "address"},
		{"--private-key", elevens + "1", "wallet", "address"},
		{"--private-key", elevens, "transfer", "--to", to, "--amount", "99999999"},
		{"transaction", "sign-hash", "--hash", strings.Repeat("33", 32)},
		{"wallet", "create", "--force"},
	} {
		for _, extra := range [][]string{nil, {"--json"}} {
			_, stdout, stderr := s.run(append(args, extra...)...)
			if all := stdout + stderr; strings.Contains(all, elevens[:60]) || strings.Contains(all, base64) {
				t.Errorf("%v prints the key:\n%s", args, all)
			}
		}
	}
}

// TestHostileArguments feeds nonsense to every command: an error, no panic.
func TestHostileArguments(t *testing.T) {
	s := newStory(t)
	s.run("init", "local", "--no-faucet")
	for _, leaf := range leaves() {
		if leaf[0] == "version" {
			continue
		}
		for _, bad := range []string{"\x00", "-1", "0x", strings.Repeat("9", 5000), "é\x1b[2J", "--", "%s%n", "../../etc"} {
			code, _, stderr := s.run(append(leaf, bad)...)
			if code == 0 && len(leaf) == 2 && leaf[1] != "basefee" && bad == "--" {
				continue // "--" ends the flags of a command that needs none
			}
			if strings.Contains(stderr, "\x1b") || len(stderr) > 12_000 {
				t.Errorf("%v %q: %d bytes of stderr with control characters or endless", leaf, bad, len(stderr))
			}
		}
	}
}
