package governance

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func FuzzParseAction(f *testing.F) {
	for _, a := range []Action{
		{Name: ActionSet, Settings: []chain.Setting{{Path: "base_fee_alpha", Value: []byte("9")}}},
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
	p := &Proposal{Number: 1, Action: []byte{0x80}, Emergency: true, Height: 7, Approvals: []chain.Address{{1}}, Ready: 9}
	f.Add(p.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeProposal(b)
		if err == nil && !bytes.Equal(p.encode(), b) {
			t.Errorf("%x came back as %x", b, p.encode())
		}
	})
}

// FuzzSettings holds the reader to its writer, and the parameters to what
// settings of any bytes may do: nothing that Check does not pass.
func FuzzSettings(f *testing.F) {
	f.Add(appendSettings(nil, []chain.Setting{{Path: "base_fee_alpha", Value: []byte("9")}, {Path: "regions", Value: []byte(`["us"]`)}}))
	f.Add(appendSettings(nil, []chain.Setting{{Path: "lane_share_basis_points.user", Value: []byte("1")}}))
	p := chain.DefaultParams()
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := readSettings(b)
		if err != nil {
			return
		}
		if !bytes.Equal(appendSettings(nil, list), b) {
			t.Errorf("%x came back as %x", b, appendSettings(nil, list))
		}
		next, err := p.With(list...)
		if err != nil {
			return
		}
		if err := next.Check(); err != nil {
			t.Error(err)
		}
	})
}

func TestMerge(t *testing.T) {
	var list []chain.Setting
	for _, path := range []string{"a.b", "c", "a.b.c", "a.bb", "a.b", "a"} {
		list = merge(list, chain.Setting{Path: path})
	}
	if len(list) != 2 || list[0].Path != "c" || list[1].Path != "a" {
		t.Errorf("%+v", list)
	}
}
