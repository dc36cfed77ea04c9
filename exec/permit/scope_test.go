package permit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/permit"
)

// TestWhatFits is the table of actions and of the kinds of scopes in which each of
// them means something.
func TestWhatFits(t *testing.T) { // CIP-2 §7.1
	scopes := []permit.Scope{
		global,
		{Kind: permit.ScopeActor, Name: string(dan[:])},
		coin,
		{Kind: permit.ScopeRunner, Name: string(dan[:])},
		pool,
		{Kind: permit.ScopeNamespace, Name: "eu"},
	}
	const actor, token, runner, anyPool, anything = "ga", "gt", "grp", "gp", "gatrpn"
	for kind, fit := range []string{
		permit.ActionAll:                    anything,
		permit.ActionTokenTransfer:          token,
		permit.ActionTokenMint:              token,
		permit.ActionTokenBurn:              token,
		permit.ActionTokenFreeze:            token,
		permit.ActionTokenSetHook:           token,
		permit.ActionTokenTransferOwnership: token,
		permit.ActionActorDeploy:            actor,
		permit.ActionActorSendMessage:       actor,
		permit.ActionActorExecuteHandler:    actor,
		permit.ActionRunnerRegister:         runner,
		permit.ActionRunnerSubmitJob:        runner,
		permit.ActionRunnerSubmitResult:     runner,
		permit.ActionRunnerJoinPool:         anyPool,
		permit.ActionSystemTransfer:         "g",
		permit.ActionSystemCreateAccount:    "g",
		permit.ActionSystemUpgrade:          "g",
		permit.ActionCustom:                 anything,
	} {
		a := permit.Action{Kind: permit.ActionKind(kind)}
		if a.Check() != nil {
			a.Name = "eu"
		}
		for i, s := range scopes {
			_, err := grant(newBook(), chain.AddrGovernance, cat, s, a, permit.Constraints{})
			if strings.Contains(fit, "gatrpn"[i:i+1]) {
				want(t, a.String()+" for "+s.String(), err, nil)
			} else {
				want(t, a.String()+" for "+s.String(), err, permit.ErrArgument)
			}
		}
	}
	_, err := grant(newBook(), chain.AddrGovernance, cat, permit.Scope{Kind: permit.ScopeNamespace, Name: "eu"}, join, permit.Constraints{})
	want(t, "a pool in a namespace of its name", err, permit.ErrArgument)
}

// TestWire holds the forms of scopes, actions and their lists to their bounds.
func TestWire(t *testing.T) { // CIP-2 §7.1; resolution 8.5
	named := func(kind uint64, names ...string) []byte {
		b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(names)), kind)
		for _, n := range names {
			b = cbor.AppendBytes(b, []byte(n))
		}
		return b
	}
	long := strings.Repeat("n", permit.MaxNameBytes)
	for _, tt := range []struct {
		rule string
		b    []byte
		s, a bool // is a scope, is an action
	}{
		{"the first kind", named(0), true, true},
		{"the first kind, with a name", named(0, "x"), false, false},
		{"a kind with a name, without", named(uint64(permit.ScopePool)), false, true},
		{"the last scope", named(uint64(permit.ScopeNamespace), "x"), true, false},
		{"behind the last scope", named(uint64(permit.ScopeNamespace)+1, "x"), false, false},
		{"the last action", named(uint64(permit.ActionCustom), "x"), false, true},
		{"behind the last action", named(uint64(permit.ActionCustom) + 1), false, false},
		{"behind it with a name", named(uint64(permit.ActionCustom)+1, "x"), false, false},
		{"beyond a byte", named(256), false, false},
		{"beyond all bytes", named(1 << 63), false, false},
		{"an address", named(uint64(permit.ScopeActor), string(ann[:])), true, false},
		{"an address too short", named(uint64(permit.ScopeActor), string(ann[:19])), false, false},
		{"a token", named(uint64(permit.ScopeToken), coin.Name), true, false},
		{"a token too short", named(uint64(permit.ScopeToken), coin.Name[1:]), false, false},
		{"the longest name", named(uint64(permit.ScopeNamespace), long), true, false},
		{"a name too long", named(uint64(permit.ScopeNamespace), long+"n"), false, false},
		{"an action's longest name", named(uint64(permit.ActionCustom), long), false, true},
		{"an action's name too long", named(uint64(permit.ActionCustom), long+"n"), false, false},
		{"an empty name", named(uint64(permit.ScopeGlobal), ""), false, false},
		{"two names", named(uint64(permit.ScopeNamespace), "x", "y"), false, false},
		{"nothing", cbor.AppendArray(nil, 0), false, false},
		{"nothing, with a number behind", append(cbor.AppendArray(nil, 0), 0), false, false},
		{"no list", cbor.AppendUint(nil, 0), false, false},
		{"a kind that is no number", cbor.AppendText(cbor.AppendArray(nil, 1), "x"), false, false},
		{"a name that is a text", cbor.AppendText(cbor.AppendUint(cbor.AppendArray(nil, 2), uint64(permit.ScopeNamespace)), "x"), false, false},
	} {
		r, q := cbor.NewReader(tt.b), cbor.NewReader(tt.b)
		if _, err := permit.ReadScope(&r); (err == nil) != tt.s || err != nil && !errors.Is(err, permit.ErrArgument) {
			t.Errorf("%s, as a scope: %v", tt.rule, err)
		}
		if _, err := permit.ReadAction(&q); (err == nil) != tt.a || err != nil && !errors.Is(err, permit.ErrArgument) {
			t.Errorf("%s, as an action: %v", tt.rule, err)
		}
	}
	for n, ok := range map[int]bool{0: false, 1: true, permit.MaxScopes: true, permit.MaxScopes + 1: false} {
		r := cbor.NewReader(permit.AppendScopes(nil, make([]permit.Scope, n)))
		if l, err := permit.ReadScopes(&r); (err == nil) != ok || ok && len(l) != n {
			t.Errorf("%d scopes: %d, %v", n, len(l), err)
		}
	}
	for n, ok := range map[int]bool{0: false, 1: true, permit.MaxActions: true, permit.MaxActions + 1: false} {
		r := cbor.NewReader(permit.AppendActions(nil, make([]permit.Action, n)))
		if l, err := permit.ReadActions(&r); (err == nil) != ok || ok && len(l) != n {
			t.Errorf("%d actions: %d, %v", n, len(l), err)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, s := range []permit.Scope{global, coin, pool, {Kind: permit.ScopeActor, Name: string(ann[:])}, {Kind: permit.ScopeNamespace, Name: "0x\x00"}, {Kind: permit.ScopeRunner, Name: string(ann[:])}} {
		if got, err := permit.ParseScope(s.String()); got != s || err != nil {
			t.Errorf("%s came back as %s, %v", s, got, err)
		}
	}
	for _, a := range []permit.Action{all, mint, join, {Kind: permit.ActionCustom, Name: "a b"}, {Kind: permit.ActionActorExecuteHandler, Name: "work"}} {
		if got, err := permit.ParseAction(a.String()); got != a || err != nil {
			t.Errorf("%s came back as %s, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "pool:x", "global:x", "actor:0x12", "token", "token:0x12", "runner_pool:", "namespace:0xzz", "namespace:0x61zz"} {
		if _, err := permit.ParseScope(text); !errors.Is(err, permit.ErrArgument) {
			t.Errorf("scope %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "mint", "all:x", "custom", "actor_execute_handler", "runner_join_pool:" + string(make([]byte, 65))} {
		if _, err := permit.ParseAction(text); !errors.Is(err, permit.ErrArgument) {
			t.Errorf("action %q: %v", text, err)
		}
	}
	for name, text := range map[string]string{
		"eu": "eu", "!": "!", "~": "~", "a:b": "a:b", " ": "0x20", "\x7f": "0x7f", "é": "0xc3a9", "0x61": "0x30783631", "x0": "x0",
	} {
		if got := (permit.Scope{Kind: permit.ScopeNamespace, Name: name}).String(); got != "namespace:"+text {
			t.Errorf("the name %q is shown as %s", name, got)
		}
	}
	for _, tt := range []struct {
		s    permit.Scope
		want string
	}{
		{permit.Scope{Kind: permit.ScopeActor, Name: string(ann[:])}, "actor:" + ann.String()},
		{permit.Scope{Kind: permit.ScopeActor, Name: strings.Repeat("a", 20)}, "actor:0x" + strings.Repeat("61", 20)},
		{permit.Scope{Kind: permit.ScopeNamespace + 1, Name: "x"}, "unknown:6"},
	} {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("%q is shown as %s", tt.s.Name, got)
		}
	}
}
