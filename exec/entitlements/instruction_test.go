package entitlements

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// TestDescribe: who votes on an instruction reads all of it.
func TestDescribe(t *testing.T) {
	id := chain.Hash{31: 0xab}
	who := chain.Address{19: 0xcd}
	scope, action := Scope{Kind: ScopePool, Name: "eu"}, Action{Kind: ActionRunnerJoinPool, Name: "eu"}
	bounds := Constraints{From: 5, Until: 9, Uses: 1, AmountPerUse: 2, TotalAmount: 6, Rate: &Rate{1, 4}, Delegatable: true, Depth: 2, Irrevocable: true}
	all := ", from block 5, until block 9, uses 1, amount per use 2, amount in all 6, delegation depth 2, 1 uses in 4 blocks, irrevocable"
	none := (&Constraints{}).Append(nil)
	for _, test := range []struct {
		opcode uint64
		args   [][]byte
		want   string
	}{
		{chain.OpEntitlementGrant, [][]byte{who[:], scope.Append(nil), action.Append(nil), bounds.Append(nil)}, "grant runner_join_pool:eu for runner_pool:eu to " + who.String() + all},
		{chain.OpEntitlementRevoke, [][]byte{id[:]}, "revoke " + id.String()},
		{chain.OpEntitlementDelegate, [][]byte{id[:], who[:], none}, "delegate " + id.String() + " to " + who.String()},
		{chain.OpRoleCreate, [][]byte{[]byte("x\n"), AppendScopes(nil, []Scope{scope}), AppendActions(nil, []Action{action}), none}, `create role "x\n": [runner_join_pool:eu] for [runner_pool:eu]`},
		{chain.OpRoleAssign, [][]byte{id[:], who[:]}, "assign role " + id.String() + " to " + who.String()},
		{chain.OpRoleRevoke, [][]byte{id[:], who[:]}, "take role " + id.String() + " from " + who.String()},
	} {
		payload := cbor.AppendUint(cbor.AppendArray(nil, 1+len(test.args)), test.opcode)
		for _, a := range test.args {
			payload = cbor.AppendBytes(payload, a)
		}
		if got, err := Describe(payload); err != nil || got != test.want {
			t.Errorf("opcode %d: %q, %v; want %q", test.opcode, got, err, test.want)
		}
		for i, a := range test.args { // a byte more in an argument that is an item
			if len(a) == len(id) || len(a) == len(who) || test.opcode == chain.OpRoleCreate && i == 0 {
				continue
			}
			longer := cbor.AppendUint(cbor.AppendArray(nil, 1+len(test.args)), test.opcode)
			for j, a := range test.args {
				if i == j {
					a = append(slices.Clone(a), 0)
				}
				longer = cbor.AppendBytes(longer, a)
			}
			if got, err := Describe(longer); !errors.Is(err, ErrArgument) {
				t.Errorf("opcode %d, a byte behind argument %d: %q, %v", test.opcode, i, got, err)
			}
		}
		for n := range payload { // cut short
			if got, err := Describe(payload[:n]); err == nil {
				t.Errorf("opcode %d, %d bytes of %d: %q", test.opcode, n, len(payload), got)
			}
		}
	}
	if got, err := Describe([]byte{0x83, 0x18, 99, 0x58}); err == nil || strings.Contains(got, "99") {
		t.Errorf("no instruction: %q, %v", got, err)
	}
}
