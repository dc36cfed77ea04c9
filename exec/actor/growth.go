package actor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
)

// codeTable holds a row for all code that was ever kept, by its hash: how many bytes
// it has. Code is never removed, so that who keeps it first pays for it.
const codeTable = "code/"

func codeRow(hash chain.Hash) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte(codeTable), hash[:]...))
}

// keepCode stores source and writes the row of code that is new.
func keepCode(o *state.Overlay, source []byte) (chain.Hash, error) {
	hash := o.SetCode(source)
	row, err := o.Storage(chain.AddrActors, codeRow(hash))
	if err == nil && row == nil {
		o.SetStorage(chain.AddrActors, codeRow(hash), cbor.AppendUint(nil, uint64(len(source))))
	}
	return hash, err
}

// isCodeRow reports whether a slot is a row of code, and how long that is.
func isCodeRow(addr chain.Address, key state.StorageKey, value []byte) (size uint64, ok bool, err error) {
	// Bounded: by five bytes.
	if addr != chain.AddrActors || key[0] != state.VMNamespaceSystem || !strings.HasPrefix(string(key[1:]), codeTable) {
		return 0, false, nil
	}
	size, err = cbor.DecodeUint(value)
	return size, true, err
}

// NewCode returns the bytes of code that the writes of an overlay have kept first:
// its row is written once and never changed.
func NewCode(o *state.Overlay) (sum uint64, err error) {
	rows, _ := o.Delta().Change(chain.AddrActors)
	// Paid: by the cells of the rows that the block has written, once.
	for i := range rows.Storage {
		size, _, err := isCodeRow(chain.AddrActors, rows.Storage[i].Key, rows.Storage[i].Value)
		if err != nil {
			return 0, fmt.Errorf("%w: row of code: %w", ErrRecord, err)
		}
		sum += size
	}
	return sum, nil
}

// GrowthCells is what a run pays for what it has added to the state since the mark:
// for each place that was empty the price of an account or an entry, for the protocol's
// own records the bytes by which they are longer as well, and for code that nobody had
// kept its bytes; and the more for all of it, the fuller the state is. Of the payload's
// own source, which has hash spelled, the first api_costs.code_free_bytes were paid for
// with the payload.
func (b *Block) GrowthCells(o *state.Overlay, mark int, spelled chain.Hash) (chain.Cells, error) {
	g, err := b.Growth(o, mark, spelled)
	return g.Cells(b.Params, max(b.Factor, fees.GrowthOne)), err
}

// Growth is what a run has added to the state since the mark.
func (b *Block) Growth(o *state.Overlay, mark int, spelled chain.Hash) (g fees.Growth, err error) {
	var wrong error
	err = o.EachGrown(mark, func(e state.Grown) {
		if e.Key == "" {
			g.Accounts++
			return
		}
		if e.Born() {
			g.Entries++
		}
		bytes := uint64(len(e.Key)) + uint64(len(e.Value)) - e.Before.Bytes
		g.Bytes += bytes
		if !e.Address.IsSystem() {
			return // who wrote it has paid for its bytes
		}
		g.Unpaid += bytes
		if size, ok, err := isCodeRow(e.Address, e.Key, e.Value); ok {
			wrong = errors.Join(wrong, err)
			g.Bytes += size
			if e.Key == codeRow(spelled) {
				size -= min(size, b.Params.API.CodeFreeBytes)
			}
			g.Unpaid += size
		}
	})
	if err = errors.Join(err, wrong); err != nil {
		return g, fmt.Errorf("weigh what a run adds: %w", err)
	}
	return g, nil
}

// payGrowth charges a run for what it has added to the state, or undoes it.
func (r *Run) payGrowth(m mark, v ending) (ending, error) {
	if v.code != chain.CodeOK || r.start.ReadOnly || r.weighed {
		return v, nil
	}
	cells, err := r.block.GrowthCells(r.state, m.state, r.spelled)
	if err != nil {
		return v, err
	}
	if short, ended := trapped(r.takeCells(uint64(cells))); ended {
		r.undo(m)
		r.failTrace(short.code)
		return short, r.writeDraws()
	}
	return v, nil
}
