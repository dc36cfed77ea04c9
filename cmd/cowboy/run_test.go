package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

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
		// In a wrong place.
		{"wallet", "import", elevens},
		{"wallet", "import", "--file", elevens},
		{"wallet", "address", "--key", elevens},
		{"wallet", "address", "--key=0x" + elevens + "/"},
		{"wallet", "balance", elevens},
		{"account", "info", "0x" + elevens},
		{"transfer", "--to", elevens, "--amount", "1"},
		{"transfer", "--to", to, "--amount", elevens},
		{"init", elevens},
		{"--privatekey", elevens, "wallet", "address"},
		{"--private-key-" + elevens, "wallet", "address"},
		{elevens},
		{"job", "get", elevens + "1"},
		{"block", "by-height", elevens},
		{"query", "blocks", "--limit", elevens},
		{"actor", "deploy", "--code", elevens},
		{"actor", "read", "--actor", elevens, "--handler", "get"},
		{"gov", "param", elevens},
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
