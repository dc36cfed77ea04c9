package entitlements

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestRecords(t *testing.T) { // CIP-2 §7.1
	c := Constraints{From: 1, Until: 2, Uses: 3, AmountPerUse: 4, TotalAmount: 5, Rate: &Rate{6, 7}, Delegatable: true, Depth: 4, Irrevocable: true}
	g := &Grant{
		Grantee: chain.Address{1}, Scope: Scope{ScopePool, "eu"}, Action: Action{ActionRunnerJoinPool, "eu"}, Constraints: c,
		Parent: &chain.Hash{2}, Grantor: chain.Address{3}, Born: 11, ParentBorn: 12, Made: 13, Slot: 14, Used: 15, AmountUsed: 16, RateFrom: 17, RateUsed: 18,
	}
	if got, err := decodeGrant(g.encode()); err != nil || !reflect.DeepEqual(got, g) {
		t.Errorf("grant: %+v, %v", got, err)
	}
	r := &Role{
		Creator: chain.Address{1}, Name: "r", Scopes: []Scope{{}, {ScopePool, "eu"}}, Actions: []Action{{Kind: ActionAll}, {Kind: ActionTokenMint}},
		Constraints: Constraints{From: 1, Until: 2, Irrevocable: true}, Made: 3,
	}
	if got, err := decodeRole(r.encode()); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("role: %+v, %v", got, err)
	}
	for rule, b := range map[string][]byte{"grant": g.encode(), "role": r.encode()} {
		for n := range b {
			_, err1 := decodeGrant(b[:n])
			_, err2 := decodeRole(b[:n])
			if err1 == nil || err2 == nil {
				t.Errorf("%s of %d bytes of %d: %v, %v", rule, n, len(b), err1, err2)
			}
		}
		_, err1 := decodeGrant(append(b, 0))
		_, err2 := decodeRole(append(b, 0))
		if err1 == nil || err2 == nil {
			t.Errorf("%s with a byte behind: %v, %v", rule, err1, err2)
		}
	}
}

// FuzzRecords holds what the state keeps to its writers: bytes that decode are those
// that are written again, but for constraints that say what is so anyway.
func FuzzRecords(f *testing.F) {
	g := &Grant{Scope: Scope{ScopePool, "eu"}, Action: Action{ActionRunnerJoinPool, "eu"}, Parent: &chain.Hash{1}, ParentBorn: 2, Born: 5, Made: 7, Used: 3}
	g.Constraints = Constraints{Until: 9, Rate: &Rate{1, 2}, Irrevocable: true}
	r := &Role{Name: "r", Scopes: []Scope{{}}, Actions: []Action{{Kind: ActionAll}}, Made: 3}
	f.Add(g.encode())
	f.Add(r.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if g, err := decodeGrant(b); err == nil {
			once := g.encode()
			again, err := decodeGrant(once)
			if err != nil || !bytes.Equal(again.encode(), once) {
				t.Errorf("grant %x came back as %x, %v", b, once, err)
			}
		}
		if r, err := decodeRole(b); err == nil {
			once := r.encode()
			again, err := decodeRole(once)
			if err != nil || !bytes.Equal(again.encode(), once) {
				t.Errorf("role %x came back as %x, %v", b, once, err)
			}
		}
	})
}
