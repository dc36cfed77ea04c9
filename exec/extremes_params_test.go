package exec_test

import (
	"errors"
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
)

var (
	extremeSkip  = flag.Int("extreme-skip", 7, "TestExtremeParameters takes one in so many of the settings; 1: all")
	extremeFirst = flag.Int("extreme-first", 0, "the first of them")
)

// extreme is a parameter at an end of what governance may set.
type extreme struct {
	path  string
	value string
}

// extremes are the ends of each parameter that governance may set alone, while the
// others are as p has them.
func extremes(t *testing.T, p *params.Params) (list []extreme) {
	for _, path := range leaves(t, p, "") {
		if params.CheckSettable(path) != nil {
			continue
		}
		now, err := p.At(path)
		if err != nil {
			t.Fatal(err)
		}
		text, quoted := strings.CutPrefix(string(now), `"`)
		n, err := strconv.ParseUint(strings.TrimSuffix(text, `"`), 10, 64)
		switch {
		case string(now) == "true":
			list = append(list, extreme{path, "false"})
		case string(now) == "false":
			if voted(p, params.Setting{Path: path, Value: []byte("true")}) == nil {
				list = append(list, extreme{path, "true"})
			}
		case err == nil:
			write := func(n uint64) string {
				if quoted {
					return `"` + strconv.FormatUint(n, 10) + `"`
				}
				return strconv.FormatUint(n, 10)
			}
			may := func(n uint64) bool { return voted(p, params.Setting{Path: path, Value: []byte(write(n))}) == nil }
			list = append(list, extreme{path, write(edge(n, 0, may))}, extreme{path, write(edge(n, math.MaxUint64, may))})
		}
	}
	return list
}

// edge is the value nearest to end up to which all may be set, from one that may.
func edge(ok, end uint64, may func(uint64) bool) uint64 {
	if may(end) {
		return end
	}
	for ok+1 < end || end+1 < ok {
		half := min(ok, end) + (max(ok, end)-min(ok, end))/2
		if may(half) {
			ok = half
		} else {
			end = half
		}
	}
	return ok
}

// loose makes a block whatever it costs: no fault, parallel execution gives the same,
// no unit is made or lost.
func (w *wild) loose(what string, txs ...*chain.VerifiedTx) {
	w.t.Helper()
	txs = w.numbered(txs)
	before := w.ground.Money()
	res, err := exec.Apply(w.ground, w.inputs(), txs)
	for ; err != nil; res, err = exec.Apply(w.ground, w.inputs(), txs) {
		var invalid *exec.InvalidTx
		if !errors.As(err, &invalid) {
			w.t.Fatalf("%s, block %d: %v", what, w.height+1, err)
		}
		w.did["invalid"]++
		txs = w.numbered(append(txs[:invalid.Index:invalid.Index], txs[invalid.Index+1:]...))
	}
	w.same(txs, &res)
	if err := w.ground.Write(res.Delta); err != nil {
		w.t.Fatal(err)
	}
	w.height++
	if after := w.ground.Money(); after != before+res.Issued-res.Burned {
		w.t.Fatalf("%s, block %d: balances add up to %d, want %d + %d issued - %d burned", what, w.height, after, before, res.Issued, res.Burned)
	}
	for _, tx := range txs {
		w.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	for i := range res.Receipts {
		w.receipt(&res.Receipts[i])
	}
	w.look()
}

// TestExtremeParameters has governance set each parameter to its least and its greatest
// value while a random chain goes on, and back: no block is a fault, none takes or makes
// a unit, and all nodes come to the same.
func TestExtremeParameters(t *testing.T) {
	w := newWild(t, wildEngines(t), nil, 3)
	w.rush(12)
	plain := w.g.Params
	list := extremes(t, &plain)
	if len(list) < 300 {
		t.Fatalf("only %d ends of parameters", len(list))
	}
	skip := *extremeSkip
	if testing.Short() {
		skip *= 5
	}
	for i := *extremeFirst; i < len(list); i += skip {
		e := list[i]
		kept, err := params.Keep(params.Setting{Path: e.path, Value: []byte(e.value)})
		if err != nil {
			t.Fatal(err)
		}
		next, err := plain.With(kept...)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*params.Params{next, &plain} {
			w.g.Params = *p
			for range 4 {
				txs := make([]*chain.VerifiedTx, 1+w.pick.n(4))
				for i := range txs {
					txs[i] = w.act()
				}
				w.loose(e.path+" = "+e.value, txs...)
			}
		}
	}
	t.Logf("every %dth of %d ends: %v", skip, len(list), w.did)
}
