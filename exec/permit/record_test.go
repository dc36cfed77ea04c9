package permit

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

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
