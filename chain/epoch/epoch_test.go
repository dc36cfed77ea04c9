package epoch

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

func TestSchedule(t *testing.T) {
	g := &genesis.Genesis{Name: "epochs", Params: params.Default(), Beacon: chain.Hash{7}, GroupKey: [96]byte{8}}
	g.Validators = []chain.Validator{{PeerKey: chain.PeerKey{1}, Stake: 3}}
	s := Of(g)
	first, err := s.At(0)
	if err != nil || first.Epoch != 0 || first.Chain != g.Hash() || first.GroupKey != g.GroupKey || first.Beacon != g.Beacon {
		t.Fatalf("%+v, %v", first, err)
	}
	if v := first.Find(chain.PeerKey{1}); v == nil || v.Stake != 3 || first.Find(chain.PeerKey{2}) != nil {
		t.Errorf("found %+v", v)
	}
	if _, err := s.At(1); !errors.Is(err, ErrUnknown) || !s.Alone() || s.Newest() != 0 {
		t.Errorf("epoch 1: %v, newest %d", err, s.Newest())
	}
	second := &Record{Chain: g.Hash(), Epoch: 1, Validators: make([]chain.Validator, 4)}
	for _, bad := range []Record{{Chain: g.Hash(), Epoch: 2}, {Chain: g.Hash()}, {Chain: chain.Hash{1}, Epoch: 1}} {
		if _, err := s.With(&bad); err == nil {
			t.Errorf("%+v follows epoch 0", bad)
		}
	}
	longer, err := s.With(second)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := longer.At(1); err != nil || r != second || longer.Alone() || longer.Chain() != g.Hash() {
		t.Errorf("epoch 1: %+v, %v", r, err)
	}
	if r, err := longer.At(0); err != nil || r != first || s.Newest() != 0 {
		t.Errorf("epoch 0: %+v, %v; the schedule before has %d epochs more", r, err, s.Newest())
	}
}
