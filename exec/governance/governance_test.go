package governance

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

var ann, ben, eve = chain.Address{0: 1}, chain.Address{0: 2}, chain.Address{0: 3}

// newBook is governance by ann and ben, both needed.
func newBook() *Book {
	p := params.Default()
	p.Governance.Members, p.Governance.Threshold, p.Governance.Seats = []chain.Address{ann, ben}, 2, 2
	p.Governance.TimelockBlocks, p.Governance.EmergencyTimelockBlocks = 5, 2
	return &Book{State: state.NewOverlay(state.Empty{}), Params: &p, Height: 10, Cycles: 1 << 40}
}

func settings(pairs ...string) Action {
	a := Action{Name: ActionSet}
	for i := 0; i < len(pairs); i += 2 {
		a.Settings = append(a.Settings, params.Setting{Path: pairs[i], Value: []byte(pairs[i+1])})
	}
	return a
}

// TestRefusedProposals: what no block may come to, and what may not be said.
func TestRefusedProposals(t *testing.T) { // resolutions 11.11, 11.17
	pair := `["` + ann.String() + `","` + ben.String() + `"]`
	for _, tt := range []struct {
		rule string
		by   chain.Address
		a    Action
		want error
	}{
		{"a stranger", eve, settings("timer.base_fee_alpha", "9"), ErrMember},
		{"a fixed parameter", ann, settings("timer.ring_blocks", "9"), params.ErrFixed},
		{"the modules that actors may import", ann, settings("actor_limits.imports", `["json"]`), params.ErrFixed},
		{"all limits of actors, the modules among them", ann, settings("actor_limits", "{}"), params.ErrFixed},
		{"present first before the market is built", ann, settings("cip11.present_first_enabled", "true", "cip11.selection_seed_margin_ms", "1"), params.ErrUnbuilt},
		{"all of the market", ann, settings("cip11", "{}"), params.ErrUnbuilt},
		{"a group with one that nothing reads", ann, settings("runner", "{}"), params.ErrUnbuilt},
		{"the one of it that is read", ann, settings("runner.heartbeat_timeout_blocks", "200"), nil},
		{"a penalty", ann, settings("staking.jail_blocks", "1"), params.ErrUnbuilt},
		{"as many members as have to agree", ann, settings("governance.members", pair), nil},
		{"one member less", ann, settings("governance.members", `["`+ann.String()+`"]`), ErrAction},
	} {
		b := newBook()
		_, _, err := b.Propose(tt.by, tt.a.Append(nil), false)
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", tt.rule, err, tt.want)
		}
		if n, err := Count(b.State); (n == 1) != (tt.want == nil) || err != nil {
			t.Errorf("%s: %d proposals, %v", tt.rule, n, err)
		}
	}
	b := newBook()
	id, _, err := b.Propose(ann, (&Action{Name: ActionEntry, Table: TableModelBans, Key: "m"}).Append(nil), false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ByNumber(b.State, 0); got != id || err != nil {
		t.Errorf("proposal 0 is %s, %v, want %s", got, err, id)
	}
	if _, err := ByNumber(b.State, 1); !errors.Is(err, ErrRecord) {
		t.Errorf("proposal 1: %v", err)
	}
	for _, n := range []int{0, len(id) - 1, len(id) + 1} {
		b.State.SetStorage(chain.AddrGovernance, numberKey(1), make([]byte, n))
		if got, err := ByNumber(b.State, 1); !errors.Is(err, ErrRecord) || got != (chain.Hash{}) {
			t.Errorf("an id of %d bytes: %s, %v", n, got, err)
		}
	}
	if _, err := b.Approve(eve, id); !errors.Is(err, ErrMember) {
		t.Errorf("a stranger approves: %v", err)
	}
	if _, _, err := b.Execute(eve, id); !errors.Is(err, ErrMember) {
		t.Errorf("a stranger executes: %v", err)
	}
}

// TestApprovalsAreBounded: members that come and go do not make a proposal longer than
// it may be stored.
func TestApprovalsAreBounded(t *testing.T) {
	b := newBook()
	id, _, err := b.Propose(ann, (&Action{Name: ActionEntry, Table: TableModelBans, Key: "m"}).Append(nil), false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(b.State, id)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(p.Approvals); i < maxApprovals-1; i++ {
		p.Approvals = append(p.Approvals, chain.Address{0: 0xaa, 1: byte(i >> 8), 2: byte(i)})
	}
	b.State.SetStorage(chain.AddrGovernance, proposalKey(id), p.encode())
	if _, err := b.Approve(ben, id); err != nil {
		t.Errorf("the last that has room: %v", err)
	}
	b.Params.Governance.Members = append(b.Params.Governance.Members, eve)
	if _, err := b.Approve(eve, id); !errors.Is(err, ErrState) {
		t.Errorf("one more: %v", err)
	}
	if p, err := Read(b.State, id); err != nil || len(p.Approvals) != maxApprovals {
		t.Errorf("the proposal does not read: %v", err)
	}
}

// TestEvents holds what is said of a proposal to the form that the names promise.
func TestEvents(t *testing.T) {
	b := newBook()
	is := func(e chain.Event, name, format string, values ...any) {
		t.Helper()
		r := cbor.NewReader(e.Data)
		n, err := r.Array(9)
		var id chain.Hash
		if err == nil {
			err = r.BytesInto(id[:])
		}
		if err != nil || e.Emitter != chain.AddrGovernance || e.Name != name {
			t.Fatalf("%s by %s: %v", e.Name, e.Emitter, err)
		}
		got := fmt.Sprintf("%d:%x", n, e.Data[r.Offset():])
		if want := fmt.Sprintf(format, values...); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	id, events, err := b.Propose(ann, (&Action{Name: ActionEntry, Table: TableModelBans, Key: "m"}).Append(nil), true)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	is(events[0], EventProposed, "3:00%x", cbor.AppendBytes(nil, ann[:]))
	is(events[1], EventApproved, "4:%x0100", cbor.AppendBytes(nil, ann[:]))
	events, err = b.Approve(ben, id)
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	is(events[0], EventApproved, "4:%x020c", cbor.AppendBytes(nil, ben[:]))
	b.Height = 12
	_, events, err = b.Execute(ben, id)
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	is(events[0], EventExecuted, "2:%x", cbor.AppendText(nil, ActionEntry))
}

// TestForceFollowsTheState: the parameters are those of the state that is shown, and
// the same ones as long as nothing changes.
func TestForceFollowsTheState(t *testing.T) { // resolution 11.11
	p := params.Default()
	o := state.NewOverlay(state.Empty{})
	o.SetStorage(chain.AddrGovernance, settingsKey(), appendSettings(nil, []params.KeptSetting{{Path: "base_fee_alpha", Value: []byte{9}}}))
	genesis := Genesis(&p)
	changed, err := genesis.At(o)
	if err != nil || changed.Params.BaseFeeAlpha != 9 || p.BaseFeeAlpha == 9 {
		t.Fatalf("alpha %d, %v", changed.Params.BaseFeeAlpha, err)
	}
	if again, err := changed.At(o); again.Params != changed.Params || err != nil {
		t.Errorf("the same settings make other parameters, %v", err)
	}
	if back, err := changed.At(state.Empty{}); back.Params != genesis.Params || err != nil {
		t.Errorf("a state without settings has alpha %d, %v", back.Params.BaseFeeAlpha, err)
	}
	o.SetStorage(chain.AddrGovernance, settingsKey(), []byte{0x81})
	if _, err := changed.At(o); !errors.Is(err, ErrRecord) {
		t.Errorf("broken settings: %v", err)
	}
}

// TestActionsHaveOneForm: a name goes with its number of elements alone, and nothing
// stands behind an action or a proposal.
func TestActionsHaveOneForm(t *testing.T) {
	good := []Action{
		settings("base_fee_alpha", "9"),
		{Name: ActionDeprecate, ID: "storage.kv"},
		{Name: ActionEntry, Table: TableModelBans, Key: "k", Value: []byte{1}},
		{Name: ActionUpgrade, Source: []byte("x")},
		{Name: ActionRegistry, Instruction: append([]byte{0x82, 0x18, chain.OpEntitlementRevoke, 0x58, 32}, make([]byte, 32)...)},
	}
	for _, a := range good {
		whole := a.Append(nil)
		if _, err := ParseAction(whole); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		if _, err := ParseAction(append(bytes.Clone(whole), 0)); !errors.Is(err, ErrAction) {
			t.Errorf("%s with a byte behind it: %v", a.Name, err)
		}
		for n := byte(1); n < 8; n++ {
			other := append([]byte{0x80 | n}, whole[1:]...)
			if _, err := ParseAction(other); n != whole[0]&15 && !errors.Is(err, ErrAction) {
				t.Errorf("%s that says it has %d elements: %v", a.Name, n, err)
			}
		}
		renamed := bytes.Replace(whole, []byte(a.Name), bytes.Repeat([]byte{'x'}, len(a.Name)), 1)
		if _, err := ParseAction(renamed); !errors.Is(err, ErrAction) {
			t.Errorf("%s by another name: %v", a.Name, err)
		}
	}
	p := &Proposal{Number: 1, Approvals: []chain.Address{ann}}
	if _, err := decodeProposal(append(p.encode(), 0)); err == nil {
		t.Error("a proposal with a byte behind it")
	}
}

func FuzzParseAction(f *testing.F) {
	for _, a := range []Action{
		{Name: ActionSet, Settings: []params.Setting{{Path: "base_fee_alpha", Value: []byte("9")}}},
		{Name: ActionDeprecate, ID: "storage.kv"},
		{Name: ActionEntry, Table: TableModelBans, Key: "k", Value: []byte{}},
		{Name: ActionEntry, Table: TableTEEKeys, Key: "k"},
		{Name: ActionUpgrade, Source: []byte("x")},
		{Name: ActionRegistry, Instruction: append([]byte{0x82, 0x18, chain.OpEntitlementRevoke, 0x58, 32}, make([]byte, 32)...)},
	} {
		f.Add(a.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := ParseAction(b)
		if err == nil && !bytes.Equal(a.Append(nil), b) {
			t.Errorf("%x came back as %x", b, a.Append(nil))
		}
	})
}

func FuzzProposal(f *testing.F) {
	p := &Proposal{Number: 1, Emergency: true, Height: 7, Approvals: []chain.Address{{1}}, Ready: 9}
	f.Add(p.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeProposal(b)
		if err == nil && !bytes.Equal(p.encode(), b) {
			t.Errorf("%x came back as %x", b, p.encode())
		}
	})
}
