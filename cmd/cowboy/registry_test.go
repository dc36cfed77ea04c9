package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// by is the flag of another key than the story's.
func by(key string) []string { return []string{"--private-key", key} }

// TestRegistryOnDevnet gives, delegates and takes memberships and roles with the
// commands alone (CIP-2 §7).
func TestRegistryOnDevnet(t *testing.T) {
	l := newLive(t)
	own, two, three := setup.DevAccounts()[0].Address, setup.DevAccounts()[1], setup.DevAccounts()[2]
	send := func(args ...string) (r rpc.ReceiptReply) {
		t.Helper()
		l.do(&r, append(append([]string{"entitlement"}, args...), "--wait")...)
		return r
	}
	id := func(r rpc.ReceiptReply) string { return "0x" + strings.TrimPrefix(r.Output, "0x5820") }
	membership := []string{"--scope", "runner_pool:eu", "--action", "runner_join_pool:eu"}
	granted := send(append([]string{"grant", "--to", two.Address.String(), "--delegation-depth", "1"}, membership...)...)
	if len(granted.Events) != 1 || granted.Events[0].Name != "EntitlementGranted" {
		t.Fatalf("grant: %+v", granted)
	}
	var holder rpc.HolderReply
	if l.do(&holder, "entitlement", "holder", "runner_pool:eu"); holder.Holder == nil || *holder.Holder != own {
		t.Errorf("holder: %+v", holder)
	}
	if said := l.refused(append(append([]string{"entitlement", "grant", "--to", own.String()}, membership...), by(client.KeyHex(three.Key))...)...); !strings.Contains(said, "forbidden") {
		t.Errorf("a stranger's grant: %s", said)
	}
	delegated := send(append([]string{"delegate", id(granted), "--to", three.Address.String()}, by(client.KeyHex(two.Key))...)...)
	var g rpc.GrantReply
	if l.do(&g, "entitlement", "show", id(delegated)); g.Grantee != three.Address || !g.InForce || g.Scope != "runner_pool:eu" || g.Parent == nil {
		t.Errorf("delegated: %+v", g)
	}
	send("revoke", id(granted))
	if l.do(&g, "entitlement", "show", id(delegated)); g.InForce {
		t.Error("a delegated membership without the one above it is in force")
	}
	if said := l.refused("entitlement", "show", id(granted)); !strings.Contains(said, "no entitlement") {
		t.Errorf("what was taken back: %s", said)
	}
	role := send("create-role", "--name", "keeper", "--scope", "namespace:shop", "--action", "custom:open", "--action", "custom:shut")
	send("assign-role", id(role), "--account", two.Address.String())
	var list rpc.EntitlementsReply
	if l.do(&list, "entitlement", "list", two.Address.String()); len(list.Entitlements) != 0 || len(list.Roles) != 1 || list.Roles[0].Name != "keeper" {
		t.Errorf("list: %+v", list)
	}
	send(append([]string{"revoke-role", id(role), "--account", two.Address.String()}, by(client.KeyHex(two.Key))...)...)
	list = rpc.EntitlementsReply{}
	if l.do(&list, "entitlement", "list", two.Address.String()); len(list.Roles) != 0 {
		t.Errorf("after the role was given up: %+v", list)
	}
}

// TestUpgradeOnDevnet makes the own account a system deployer and upgrades an
// actor; another stays as it is (entitlements §7.1, §9.2).
func TestUpgradeOnDevnet(t *testing.T) {
	l := newLive(t)
	own := setup.DevAccounts()[0].Address
	source := func(name string, version int) string {
		path := filepath.Join(l.dir, name)
		text := fmt.Sprintf("from cowboy_sdk import actor, public\n\n@actor\nclass A:\n    @public\n    def version(self, msg):\n        return %d\n", version)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	l.decide("set", `entitlements.system_deployers=["`+own.String()+`"]`)
	var r rpc.ReceiptReply
	one, two := source("one.py", 1), source("two.py", 2)
	system := l.deploy(one, "--salt", "0x01", "--manifest-json", `{"entitlements":[{"id":"sys.upgrade"}]}`)
	plain := l.deploy(one, "--salt", "0x02", "--manifest-json", `{"entitlements":[]}`)
	if l.do(&r, "actor", "upgrade-actor", system, "--code", two, "--wait"); r.Status != "success" || len(r.Events) != 1 || r.Events[0].Name != "ActorUpgraded" {
		t.Errorf("upgrade: %+v", r)
	}
	if got := l.read(system, "version", "null"); got != "2" {
		t.Errorf("after the upgrade: version %s", got)
	}
	if said := l.refused("actor", "upgrade-actor", plain, "--code", two); !strings.Contains(said, "forbidden") {
		t.Errorf("E21: a regular actor: %s", said)
	}
}

// TestLogsOnDevnet asks for events of an actor by place, by height and in both
// directions, over a restart of the node.
func TestLogsOnDevnet(t *testing.T) {
	dir := t.TempDir()
	url, stop := devtest.Start(t, dir, setup.DevnetOptions{BlockTime: 25 * time.Millisecond})
	l := liveAt(t, t.TempDir(), url)
	l.run("actor", "new", "counter")
	actor := l.deploy(filepath.Join(l.dir, "counter.py"), "--salt", "0x01")
	var heights []uint64
	for i := range 5 {
		heights = append(heights, l.execute(actor, "add", fmt.Sprint(i+1)).BlockHeight)
	}
	values := func(args ...string) (out []string, next string) {
		t.Helper()
		var page rpc.LogsReply
		l.do(&page, append([]string{"actor", "logs", actor}, args...)...)
		for _, e := range page.Logs {
			out = append(out, string(e.Value))
		}
		return out, page.Next
	}
	check := func() {
		t.Helper()
		var all []string
		next := ""
		for page := 0; page == 0 || next != ""; page++ {
			args := []string{"--limit", "2"}
			if next != "" {
				args = append(args, "--after", next)
			}
			var got []string
			if got, next = values(args...); len(got) > 2 || page > 3 {
				t.Fatalf("page %d: %v", page, got)
			}
			all = append(all, got...)
		}
		if want := []string{"15", "10", "6", "3", "1"}; !slices.Equal(all, want) {
			t.Errorf("pages of two: %v", all)
		}
		between := []string{"--from", fmt.Sprint(heights[1]), "--to", fmt.Sprint(heights[3]), "--oldest"}
		if got, next := values(between...); !slices.Equal(got, []string{"3", "6", "10"}) || next != "" {
			t.Errorf("between heights: %v, next %q", got, next)
		}
	}
	check()
	stop()
	url, stop = devtest.Start(t, dir, setup.DevnetOptions{BlockTime: 25 * time.Millisecond})
	defer stop()
	l.env["COWBOY_RPC_URL"] = url
	check()
	l.follows(actor, heights[3])
}

// follows has a command print what is there and what comes, until interrupted.
func (l *live) follows(actor string, from uint64) {
	t := l.t
	t.Helper()
	printed, interrupt := l.start("actor", "logs", actor, "--follow", "--from", fmt.Sprint(from), "--json")
	for i, want := range []string{"10", "15", "115"} {
		if i == 2 {
			l.execute(actor, "add", "100")
		}
		var e rpc.LogReply
		if err := json.Unmarshal([]byte(<-printed), &e); err != nil || string(e.Value) != want {
			t.Errorf("event %d: %+v, %v, want %s", i, e, err, want)
		}
	}
	if code := interrupt(); code != 0 {
		t.Errorf("interrupted: exit %d", code)
	}
	for limit := 1; limit <= 3; limit++ { // the last is the one that came while it was followed
		code, out, stderr := l.run("actor", "logs", actor, "--follow", "--from", fmt.Sprint(from), "--limit", fmt.Sprint(limit))
		if code != 0 || strings.Count(out, "\n") != limit {
			t.Errorf("--limit %d: exit %d, %q, %s", limit, code, out, stderr)
		}
	}
}

// start runs a command and returns the lines that it prints, and what interrupts
// it and returns its exit code.
func (l *live) start(args ...string) (printed <-chan string, interrupt func() int) {
	ctx, cancel := context.WithCancel(l.t.Context())
	r, w := io.Pipe()
	out, code := make(chan string), make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"--dir", l.dir}, args...), world{
			stdin: strings.NewReader(""), stdout: w, stderr: io.Discard, env: func(name string) string { return l.env[name] },
		})
		w.Close()
	}()
	go func() {
		defer close(out)
		for scan := bufio.NewScanner(r); scan.Scan(); {
			out <- scan.Text()
		}
	}()
	return out, func() int { cancel(); return <-code }
}
