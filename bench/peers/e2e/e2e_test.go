package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/flood"
)

// TestPeersReadOurTransfers: go-ethereum reads what is sent to it and to the signed
// application, finds the signer and makes the same hash.
func TestPeersReadOurTransfers(t *testing.T) {
	e, err := newEVM(3)
	if err != nil {
		t.Fatal(err)
	}
	turns := []flood.Turn{{Account: 0}, {Account: 1, Nonce: 1}, {Account: 2, Nonce: 300}}
	for range 8 {
		turns = append(turns, turns...) // with signatures enough that some have leading zeros
	}
	check := func(t *testing.T, i int, raw []byte) *types.Transaction {
		t.Helper()
		var tx types.Transaction
		if err := tx.UnmarshalBinary(raw); err != nil {
			t.Fatal(err)
		}
		from, err := types.Sender(types.NewLondonSigner(big.NewInt(evmChainID)), &tx)
		if err != nil || from != common.Address(e.keys[turns[i].Account].Address) || tx.Nonce() != turns[i].Nonce || tx.Gas() != evmGas {
			t.Fatalf("transfer %d is of %s (%v), nonce %d", i, from, err, tx.Nonce())
		}
		return &tx
	}
	t.Run("geth", func(t *testing.T) {
		body, ids := bodyOf(t, &gethEncoder{chain: &geth{host: "h", evm: e}}, turns)
		var calls []struct{ Params []string }
		if err := json.Unmarshal(body, &calls); err != nil || len(calls) != len(turns) || len(ids) != len(turns) {
			t.Fatalf("%d calls (%v)", len(calls), err)
		}
		for i, c := range calls {
			raw, err := hex.DecodeString(c.Params[0][2:])
			if err != nil {
				t.Fatal(err)
			}
			hash := check(t, i, raw).Hash()
			if want := new(big.Int).SetBytes(hash[:8]).Uint64(); uint64(ids[i]) != want {
				t.Fatalf("id %x of hash %s", ids[i], hash)
			}
		}
	})
	t.Run("comet", func(t *testing.T) {
		body, ids := bodyOf(t, &cometEncoder{chain: &comet{host: "h", evm: e}}, turns)
		var calls []struct{ Params struct{ Tx string } }
		if err := json.Unmarshal(body, &calls); err != nil || len(calls) != len(turns) {
			t.Fatalf("%d calls (%v)", len(calls), err)
		}
		for i, c := range calls {
			raw, err := base64.StdEncoding.DecodeString(c.Params.Tx)
			if err != nil {
				t.Fatal(err)
			}
			if check(t, i, raw); ids[i] != cometID(raw) {
				t.Fatalf("id %x", ids[i])
			}
		}
	})
}

func bodyOf(t *testing.T, e flood.Encoder, turns []flood.Turn) ([]byte, []flood.ID) {
	t.Helper()
	raw, ids := e.Request(nil, nil, turns)
	_, body, ok := strings.Cut(string(raw), "\r\n\r\n")
	if !ok {
		t.Fatalf("no body in %.100q", raw)
	}
	return []byte(body), ids
}

func made(name string, round int, perSecond, rate float64, cpu time.Duration) outcome {
	r := outcome{Name: name, Round: round, Rate: rate}
	r.PerSecond, r.InBlocks, r.NodeCPU = perSecond, 1000, cpu*1000
	r.Answer.P99 = 5 * time.Millisecond
	r.Inside = map[string]float64{stagePrefix + "exec": 2500, stagePrefix + "root": 2500, insideAllocations: 11, insideBytes: 3000}
	return r
}

func TestBars(t *testing.T) {
	all := runs{
		made(nameOurs, 1, 60_000, 0, 19*time.Microsecond), made(nameAgain, 1, 66_000, 0, 19*time.Microsecond),
		made(nameGeth, 1, 3_000, 0, 300*time.Microsecond), made(nameKVStore, 1, 30_000, 0, 50*time.Microsecond),
		made(nameOurs, 1, 45_000, 45_000, 25*time.Microsecond),
		made(nameKVStore, 2, 1, 0, 50*time.Microsecond), // ours of round 2 is missing
		made(nameSmall, 1, 100, 100, time.Millisecond), made(nameSmallP, 1, 100, 100, time.Millisecond),
	}
	for i := range all {
		if all[i].Inclusion.P50 = 50 * time.Millisecond; all[i].Name == nameSmall {
			all[i].Inclusion.P50 = 45 * time.Millisecond
		}
	}
	want := map[string]string{
		"transfers-geth": bars.VerdictOK, "transfers-comet-signed": bars.VerdictNotMeasured, "transfers-comet-kvstore": bars.VerdictShort,
		"four-validators-comet-kvstore": bars.VerdictNotMeasured, "small-loads-p50-to-final": bars.VerdictOK,
		"answers-p99-at-saturation": bars.VerdictShort, "answers-p99-at-three-quarters": bars.VerdictOK, "node-cpu-a-transfer": bars.VerdictOK,
		"serial-work-a-transfer": bars.VerdictShort, "allocations-a-transfer": bars.VerdictOK, "allocated-bytes-a-transfer": bars.VerdictShort,
	}
	results := all.judged()
	for _, r := range results {
		if r.Verdict != want[r.Name] {
			t.Errorf("%s: want %s", r.Line(), want[r.Name])
		}
		delete(want, r.Name)
	}
	if len(want) > 0 {
		t.Errorf("no bar for %v", want)
	}
	if r := results[0]; math.Abs(r.Ratio-20) > 1e-9 {
		t.Errorf("60,000 beside 3,000 is %v times", r.Ratio)
	}
	if floor := all.floor(); math.Abs(floor-0.1) > 1e-9 {
		t.Errorf("floor %v of 60,000 and 66,000, want 0.1", floor)
	}
	var text strings.Builder
	all.print(&text, results)
	if !strings.Contains(text.String(), "neither ok nor SHORT is certain: node-cpu-a-transfer") {
		t.Errorf("19 of at most 20 us is inside a floor of 10 %%:\n%s", text.String())
	}
}

func TestInside(t *testing.T) {
	before, included := 0.0, "cowboy_pool_included_total 100\n"
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before++
		if before > 1 {
			included = "cowboy_pool_included_total 300\ncowboy_exec_nanoseconds_total 1e6\ngo_memstats_mallocs_total 2000\n" + counterOfOwner + "ledger\"} 0.002\n"
		}
		_, _ = w.Write([]byte("# HELP x\n" + included))
	}))
	defer node.Close()
	in := &inside{server: &server{}}
	in.server.admin = strings.TrimPrefix(node.URL, "http://")
	if err := in.watch(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{stagePrefix + "exec": 5000, insideAllocations: 10, ownerPrefix + "ledger": 10_000} {
		if math.Abs(in.found[name]-want) > 1e-6 {
			t.Errorf("%s: %v a transaction, want %v", name, in.found[name], want)
		}
	}
	if r := (outcome{Inside: in.found}); math.Abs(r.serial()-10) > 1e-9 {
		t.Errorf("busiest owner %v us, want 10", r.serial())
	}
}

func TestLongBars(t *testing.T) {
	var r outcome
	var prints []footprint
	for i := range 100 { // ten minutes in steps of six seconds: half the rate and thrice the disk from the middle on
		at := time.Duration(i) * 6 * time.Second
		m := flood.Moment{Seen: at, Count: 600, P99: 100 * time.Millisecond}
		f := footprint{at: at, memory: 1000, disk: int64(i) * 600_000}
		if i >= 50 {
			m.Count, f.disk = 300, 50*600_000+int64(i-50)*900_000
		}
		r.Moments, prints = append(r.Moments, m), append(prints, f)
	}
	early := partOf(&r, prints, 10*time.Minute, earlyFrom, earlyUntil)
	late := partOf(&r, prints, 10*time.Minute, lateFrom, 1)
	want := map[string]string{
		"long-rate-drift": bars.VerdictShort, "long-p99-growth": bars.VerdictOK, "long-memory-growth": bars.VerdictOK, "long-disk-growth": bars.VerdictShort,
	}
	for _, b := range longBars(early, late) {
		if b.Verdict != want[b.Name] {
			t.Errorf("%s: want %s", b.Line(), want[b.Name])
		}
	}
	if early.perSecond < 95 || early.perSecond > 105 || late.bytesOnDisk/early.bytesOnDisk < 2.9 {
		t.Errorf("early %+v, late %+v", early, late)
	}
	if (partOf(&r, nil, 10*time.Minute, 0, 1) != part{}) {
		t.Error("a run that nobody looked at has figures")
	}
}
