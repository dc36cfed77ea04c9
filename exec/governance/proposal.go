package governance

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Proposal is an action on its way.
type Proposal struct {
	Number    uint64
	Action    []byte // canonical, see [ParseAction]
	Emergency bool   // the short timelock
	Height    chain.Height
	Approvals []chain.Address // the proposer's first
	Ready     chain.Height    // first block that may carry it out; 0: not approved by enough
	Done      chain.Height    // block that did; 0: none
}

// maxApprovals bounds a list of members, as the parameters' check does.
const maxApprovals = 4_096

// ProposalID names a proposal: keccak256 of its number and its action.
func ProposalID(number uint64, action []byte) chain.Hash {
	return keccak.Sum256([]byte("cowboy-proposal-v1"), binary.BigEndian.AppendUint64(nil, number), action)
}

func actionKey(id chain.Hash) state.StorageKey { return systemKey([]byte("action/"), id[:]) }

func proposalKey(id chain.Hash) state.StorageKey { return systemKey([]byte("proposal/"), id[:]) }

func numberKey(n uint64) state.StorageKey {
	return systemKey([]byte("number/"), binary.BigEndian.AppendUint64(nil, n))
}

func countKey() state.StorageKey { return systemKey([]byte("count")) }

func tableKey(table, key string) state.StorageKey {
	return systemKey([]byte("table/"), []byte(table), []byte("/"), []byte(key))
}

// Count returns how many proposals there were.
func Count(v state.View) (uint64, error) {
	b, err := v.Storage(chain.AddrGovernance, countKey())
	if err != nil || b == nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("%w: count of %d bytes", ErrRecord, len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}

// ByNumber returns the id of the proposal with a number below [Count].
func ByNumber(v state.View, n uint64) (id chain.Hash, err error) {
	b, err := v.Storage(chain.AddrGovernance, numberKey(n))
	if err != nil {
		return id, err
	}
	if len(b) != len(id) {
		return id, fmt.Errorf("%w: proposal %d", ErrRecord, n)
	}
	return chain.Hash(b), nil
}

// Read returns a proposal; nil where there is none of that id.
func Read(v state.View, id chain.Hash) (*Proposal, error) {
	b, err := v.Storage(chain.AddrGovernance, proposalKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	p, err := decodeProposal(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRecord, id, err)
	}
	p.Action, err = v.Storage(chain.AddrGovernance, actionKey(id))
	return p, err
}

// Entry returns an entry of a table; nil where there is none.
func Entry(v state.View, table, key string) ([]byte, error) {
	return v.Storage(chain.AddrGovernance, tableKey(table, key))
}

func decodeProposal(b []byte) (*Proposal, error) {
	r := cbor.NewReader(b)
	p := new(Proposal)
	err := r.ArrayOf(6)
	var height, ready, done uint64
	var n int
	read := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	read(func() (err error) { p.Number, err = r.Uint(); return err })
	read(func() (err error) { p.Emergency, err = r.Bool(); return err })
	read(func() (err error) { height, err = r.Uint(); return err })
	read(func() (err error) { n, err = r.Array(maxApprovals); return err })
	// Bounded: by maxApprovals, 4,096.
	for range n {
		var a chain.Address
		read(func() error { return r.BytesInto(a[:]) })
		if err != nil {
			return nil, err
		}
		p.Approvals = append(p.Approvals, a)
	}
	read(func() (err error) { ready, err = r.Uint(); return err })
	read(func() (err error) { done, err = r.Uint(); return err })
	read(r.End)
	p.Height, p.Ready, p.Done = chain.Height(height), chain.Height(ready), chain.Height(done)
	return p, err
}

// encode writes all but the action, which has a row of its own: what approvals write
// again does not grow with it.
func (p *Proposal) encode() []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 6), p.Number)
	b = cbor.AppendBool(b, p.Emergency)
	b = cbor.AppendArray(cbor.AppendUint(b, uint64(p.Height)), len(p.Approvals))
	// Bounded: by maxApprovals, 4,096.
	for _, a := range p.Approvals {
		b = cbor.AppendBytes(b, a[:])
	}
	return cbor.AppendUint(cbor.AppendUint(b, uint64(p.Ready)), uint64(p.Done))
}
