package entitlements_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

// TestWhatFits is the table of actions and of the kinds of scopes in which each of
// them means something.
func TestWhatFits(t *testing.T) { // CIP-2 §7.1
	scopes := []entitlements.Scope{
		global,
		{Kind: entitlements.ScopeActor, Name: string(dan[:])},
		coin,
		{Kind: entitlements.ScopeRunner, Name: string(dan[:])},
		pool,
		{Kind: entitlements.ScopeNamespace, Name: "eu"},
	}
	const actor, token, runner, anyPool, anything = "ga", "gt", "grp", "gp", "gatrpn"
	for kind, fit := range []string{
		entitlements.ActionAll:                    anything,
		entitlements.ActionTokenTransfer:          token,
		entitlements.ActionTokenMint:              token,
		entitlements.ActionTokenBurn:              token,
		entitlements.ActionTokenFreeze:            token,
		entitlements.ActionTokenSetHook:           token,
		entitlements.ActionTokenTransferOwnership: token,
		entitlements.ActionActorDeploy:            actor,
		entitlements.ActionActorSendMessage:       actor,
		entitlements.ActionActorExecuteHandler:    actor,
		entitlements.ActionRunnerRegister:         runner,
		entitlements.ActionRunnerSubmitJob:        runner,
		entitlements.ActionRunnerSubmitResult:     runner,
		entitlements.ActionRunnerJoinPool:         anyPool,
		entitlements.ActionSystemTransfer:         "g",
		entitlements.ActionSystemCreateAccount:    "g",
		entitlements.ActionSystemUpgrade:          "g",
		entitlements.ActionCustom:                 anything,
	} {
		a := entitlements.Action{Kind: entitlements.ActionKind(kind)}
		if a.Check() != nil {
			a.Name = "eu"
		}
		for i, s := range scopes {
			_, err := grant(newBook(), chain.AddrGovernance, cat, s, a, entitlements.Constraints{})
			if strings.Contains(fit, "gatrpn"[i:i+1]) {
				want(t, a.String()+" for "+s.String(), err, nil)
			} else {
				want(t, a.String()+" for "+s.String(), err, entitlements.ErrArgument)
			}
		}
	}
	_, err := grant(newBook(), chain.AddrGovernance, cat, entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: "eu"}, join, entitlements.Constraints{})
	want(t, "a pool in a namespace of its name", err, entitlements.ErrArgument)
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
	long := strings.Repeat("n", entitlements.MaxNameBytes)
	for _, tt := range []struct {
		rule string
		b    []byte
		s, a bool // is a scope, is an action
	}{
		{"the first kind", named(0), true, true},
		{"the first kind, with a name", named(0, "x"), false, false},
		{"a kind with a name, without", named(uint64(entitlements.ScopePool)), false, true},
		{"the last scope", named(uint64(entitlements.ScopeNamespace), "x"), true, false},
		{"behind the last scope", named(uint64(entitlements.ScopeNamespace)+1, "x"), false, false},
		{"the last action", named(uint64(entitlements.ActionCustom), "x"), false, true},
		{"behind the last action", named(uint64(entitlements.ActionCustom) + 1), false, false},
		{"behind it with a name", named(uint64(entitlements.ActionCustom)+1, "x"), false, false},
		{"beyond a byte", named(256), false, false},
		{"beyond all bytes", named(1 << 63), false, false},
		{"an address", named(uint64(entitlements.ScopeActor), string(ann[:])), true, false},
		{"an address too short", named(uint64(entitlements.ScopeActor), string(ann[:19])), false, false},
		{"a token", named(uint64(entitlements.ScopeToken), coin.Name), true, false},
		{"a token too short", named(uint64(entitlements.ScopeToken), coin.Name[1:]), false, false},
		{"the longest name", named(uint64(entitlements.ScopeNamespace), long), true, false},
		{"a name too long", named(uint64(entitlements.ScopeNamespace), long+"n"), false, false},
		{"an action's longest name", named(uint64(entitlements.ActionCustom), long), false, true},
		{"an action's name too long", named(uint64(entitlements.ActionCustom), long+"n"), false, false},
		{"an empty name", named(uint64(entitlements.ScopeGlobal), ""), false, false},
		{"two names", named(uint64(entitlements.ScopeNamespace), "x", "y"), false, false},
		{"nothing", cbor.AppendArray(nil, 0), false, false},
		{"nothing, with a number behind", append(cbor.AppendArray(nil, 0), 0), false, false},
		{"no list", cbor.AppendUint(nil, 0), false, false},
		{"a kind that is no number", cbor.AppendText(cbor.AppendArray(nil, 1), "x"), false, false},
		{"a name that is a text", cbor.AppendText(cbor.AppendUint(cbor.AppendArray(nil, 2), uint64(entitlements.ScopeNamespace)), "x"), false, false},
	} {
		r, q := cbor.NewReader(tt.b), cbor.NewReader(tt.b)
		if _, err := entitlements.ReadScope(&r); (err == nil) != tt.s || err != nil && !errors.Is(err, entitlements.ErrArgument) {
			t.Errorf("%s, as a scope: %v", tt.rule, err)
		}
		if _, err := entitlements.ReadAction(&q); (err == nil) != tt.a || err != nil && !errors.Is(err, entitlements.ErrArgument) {
			t.Errorf("%s, as an action: %v", tt.rule, err)
		}
	}
	for n, ok := range map[int]bool{0: false, 1: true, entitlements.MaxScopes: true, entitlements.MaxScopes + 1: false} {
		r := cbor.NewReader(entitlements.AppendScopes(nil, make([]entitlements.Scope, n)))
		if l, err := entitlements.ReadScopes(&r); (err == nil) != ok || ok && len(l) != n {
			t.Errorf("%d scopes: %d, %v", n, len(l), err)
		}
	}
	for n, ok := range map[int]bool{0: false, 1: true, entitlements.MaxActions: true, entitlements.MaxActions + 1: false} {
		r := cbor.NewReader(entitlements.AppendActions(nil, make([]entitlements.Action, n)))
		if l, err := entitlements.ReadActions(&r); (err == nil) != ok || ok && len(l) != n {
			t.Errorf("%d actions: %d, %v", n, len(l), err)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, s := range []entitlements.Scope{global, coin, pool, {Kind: entitlements.ScopeActor, Name: string(ann[:])}, {Kind: entitlements.ScopeNamespace, Name: "0x\x00"}, {Kind: entitlements.ScopeRunner, Name: string(ann[:])}} {
		if got, err := entitlements.ParseScope(s.String()); got != s || err != nil {
			t.Errorf("%s came back as %s, %v", s, got, err)
		}
	}
	for _, a := range []entitlements.Action{all, mint, join, {Kind: entitlements.ActionCustom, Name: "a b"}, {Kind: entitlements.ActionActorExecuteHandler, Name: "work"}} {
		if got, err := entitlements.ParseAction(a.String()); got != a || err != nil {
			t.Errorf("%s came back as %s, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "pool:x", "global:x", "actor:0x12", "token", "token:0x12", "runner_pool:", "namespace:0xzz", "namespace:0x61zz"} {
		if _, err := entitlements.ParseScope(text); !errors.Is(err, entitlements.ErrArgument) {
			t.Errorf("scope %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "mint", "all:x", "custom", "actor_execute_handler", "runner_join_pool:" + string(make([]byte, 65))} {
		if _, err := entitlements.ParseAction(text); !errors.Is(err, entitlements.ErrArgument) {
			t.Errorf("action %q: %v", text, err)
		}
	}
	for name, text := range map[string]string{
		"eu": "eu", "!": "!", "~": "~", "a:b": "a:b", " ": "0x20", "\x7f": "0x7f", "é": "0xc3a9", "0x61": "0x30783631", "x0": "x0",
	} {
		if got := (entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: name}).String(); got != "namespace:"+text {
			t.Errorf("the name %q is shown as %s", name, got)
		}
	}
	for _, tt := range []struct {
		s    entitlements.Scope
		want string
	}{
		{entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(ann[:])}, "actor:" + ann.String()},
		{entitlements.Scope{Kind: entitlements.ScopeActor, Name: strings.Repeat("a", 20)}, "actor:0x" + strings.Repeat("61", 20)},
		{entitlements.Scope{Kind: entitlements.ScopeNamespace + 1, Name: "x"}, "unknown:6"},
	} {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("%q is shown as %s", tt.s.Name, got)
		}
	}
}
