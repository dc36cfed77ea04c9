package jobs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	own "github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// approve rewrites the golden file. A changed file is a hard fork: commit it only
// together with an ADR.
var approve = flag.Bool("approve", false, "rewrite golden files")

func counting(start byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = start + byte(i)
	}
	return b
}

func hash(start byte) chain.Hash { return chain.Hash(counting(start, 32)) }

func pinJob() *Job {
	return &Job{
		Submitter: chain.Address(counting(0x21, 20)), SubmittedAt: 1000, Kind: chain.JobHTTP, Phase: Closing, Attempt: 1,
		Runners: 5, Threshold: 3, Mode: chain.VerifyMajorityVote, MaxPrice: 100_000_000, Tip: 10_000_000, Held: 110_000_000,
		TimeoutBlocks: 120, AssignedAt: 1001, Deadline: 1120, Seed: hash(1), CandidatesRoot: hash(2), SpecHash: hash(3),
		TermsHash: hash(4), ReputationConfig: 7, Outcome: OK, VerdictAt: 1100, WindowEnd: 2000, CanonicalSeat: 2, DataHash: hash(5),
		CommitBy: 1060, GatherUntil: 1096, LateKey: hash(9), SubmittedMillis: 1_700_000_000_000, DueAt: 1121, Model: hash(10),
		Attempts: 3, Papers: 2_000, AnswerLoad: 600, Verifier: true, Promised: 250_000, Crowds: 12, Large: true, Spared: true, VerifierLoad: 700, Backed: true, TreasuryShare: 100, GatherShare: 150,
	}
}

func pinSeat() *Seat {
	return &Seat{
		Runner: chain.Address(counting(0x20, 20)), Rates: Rates{3, 15, 2_000_000, 100_000, 9}, ExpectedPrice: 19_000_000, Excess: true,
		ReputationX1e9: 61_250_000_000, Commitment: new(hash(6)), CommittedAt: 1050,
		Reveal: &Reveal{1080, hash(7), hash(8), chain.OutcomeActorFault, Usage{120, 9, 1500, 256, 1}, true}, Cost: 18_000_000, Frozen: 5,
		Bonded: 44, Silent: true, Mark: Differs, Millis: 1_700_000_050_000,
	}
}

// row is a sample with the list that it is, written from the design.
type row struct {
	name   string
	sample interface{ Encode() []byte }
	plain  []any
	decode func([]byte) ([]byte, error) // and encode again
}

func recode[T interface{ Encode() []byte }](decode func([]byte) (T, error)) func([]byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) {
		x, err := decode(b)
		if err != nil {
			return nil, err
		}
		return x.Encode(), nil
	}
}

func rows() []row {
	h := func(start byte) []byte { return counting(start, 32) }
	rates, usage := []any{3, 15, 2_000_000, 100_000, 9}, []any{120, 9, 1500, 256, 1}
	zero := make([]byte, 32)
	return []row{
		{"job", pinJob(), []any{
			counting(0x21, 20), 1000, 1, 3, 1, 5, 3, 2, 100_000_000, 10_000_000, 110_000_000, 120, 1001, 1120,
			h(1), h(2), h(3), h(4), 7, 1, 1100, 2000, 2, h(5), 1060, 1096, h(9), uint64(1_700_000_000_000), 1121, h(10), 3, 2_000, 600, true, 250_000, 12, true, true, 700, true, 100, 150,
		}, recode(DecodeJob)},
		{"job_fresh", &Job{}, []any{
			make([]byte, 20), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, zero, zero, zero, zero, 0, 0, 0, 0, 0, zero, 0, 0, zero, 0, 0, zero, 0, 0, 0, false, 0, 0, false, false, 0, false, 0, 0,
		}, recode(DecodeJob)},
		{"seat", pinSeat(), []any{
			counting(0x20, 20), rates, 19_000_000, true, uint64(61_250_000_000), h(6), 1050,
			[]any{1080, h(7), h(8), 2, usage, true},
			18_000_000, 5,
			44, true, 2, uint64(1_700_000_050_000),
		}, recode(DecodeSeat)},
		{"seat_new", &Seat{}, []any{make([]byte, 20), []any{0, 0, 0, 0, 0}, 0, false, 0, nil, 0, nil, 0, 0, 0, false, 0, 0}, recode(DecodeSeat)},
	}
}

// TestTwoEncodersAgree encodes each row a second time, from a list that was written from
// the design, and pins the bytes.
func TestTwoEncodersAgree(t *testing.T) {
	mode, err := cbor.EncOptions{}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	var pins strings.Builder
	for _, r := range rows() {
		want, err := mode.Marshal(r.plain)
		got := r.sample.Encode()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s encodes as\n%x, the other encoder as\n%x, %v", r.name, got, want, err)
		}
		if again, err := r.decode(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s encodes again as %x, %v", r.name, again, err)
		}
		fmt.Fprintf(&pins, "%s %x\n", r.name, got)
	}
	const golden = "testdata/rows.txt"
	if *approve {
		if err := os.WriteFile(golden, []byte(pins.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != pins.String() {
		t.Errorf("rows are\n%sfrozen as\n%s%v", pins.String(), want, err)
	}
}

func TestRowsRefuse(t *testing.T) {
	for _, r := range rows() {
		good := r.sample.Encode()
		for cut := range good {
			if _, err := r.decode(good[:cut]); !errors.Is(err, ErrRecord) {
				t.Errorf("%s, cut after %d bytes: %v", r.name, cut, err)
			}
		}
		if _, err := r.decode(append(slices.Clone(good), 0)); !errors.Is(err, ErrRecord) || !errors.Is(err, own.ErrTrailing) {
			t.Errorf("%s with a byte behind it: %v", r.name, err)
		}
	}
	job := func(field string, change func(*Job)) {
		t.Helper()
		j := pinJob()
		change(j)
		_, err := DecodeJob(j.Encode())
		var named *chain.FieldError
		var outside *chain.RangeError
		if !errors.Is(err, ErrRecord) || !errors.As(err, &named) || named.Field != field || !errors.As(err, &outside) {
			t.Errorf("%s: %v", field, err)
		}
	}
	job("kind", func(j *Job) { j.Kind = 6 })
	job("phase", func(j *Job) { j.Phase = 6 })
	job("mode", func(j *Job) { j.Mode = 6 })
	job("outcome", func(j *Job) { j.Outcome = 9 })
	s := pinSeat()
	s.Reveal.Outcome = 4
	if _, err := DecodeSeat(s.Encode()); !errors.Is(err, ErrRecord) {
		t.Errorf("a fifth outcome: %v", err)
	}
	s = pinSeat()
	s.Mark = Void + 1
	if _, err := DecodeSeat(s.Encode()); !errors.Is(err, ErrRecord) {
		t.Errorf("a fifth mark: %v", err)
	}
}

// TestSizes: rows take what a submitter pays for, and buffers are made in one piece.
func TestSizes(t *testing.T) {
	j := pinJob()
	j.SubmittedMillis, j.DueAt = math.MaxUint64, math.MaxUint64
	j.Promised, j.Crowds, j.AnswerLoad, j.VerifierLoad, j.Papers = math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint32
	j.TreasuryShare, j.GatherShare = 10_000, 10_000
	for _, f := range []*chain.Wei{&j.MaxPrice, &j.Tip, &j.Held} {
		*f = math.MaxUint64
	}
	s := pinSeat()
	s.Rates = Rates{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
	s.ExpectedPrice, s.Cost, s.Frozen = math.MaxUint64, math.MaxUint64, math.MaxUint64
	s.Bonded, s.Millis = math.MaxUint64, math.MaxUint64
	for name, x := range map[string]struct {
		row         []byte
		least, most int
	}{"job": {j.Encode(), 210, 444}, "seat": {s.Encode(), 80, 260}, "new seat": {(&Seat{}).Encode(), 30, 80}} {
		if len(x.row) < x.least || len(x.row) > x.most {
			t.Errorf("%s of %d bytes, want %d to %d", name, len(x.row), x.least, x.most)
		}
	}
	if n := testing.AllocsPerRun(10, func() { s.Encode() }); n > 1 {
		t.Errorf("%v allocations to encode a seat", n)
	}
}

func TestOffersAndResultsFitSeats(t *testing.T) {
	card := chain.RateCard{LLMInputToken: 1, LLMOutputToken: 2, HTTPRequestBase: 3, ComputeSecond: 4, MemoryMB: 5}
	if got := RatesOf(&card); got != (Rates{1, 2, 3, 4, 5}) {
		t.Errorf("rates %+v", got)
	}
	if got := UsageOf(chain.RunnerUsage{InputTokens: 1, OutputTokens: 2, WallMillis: 3, MemoryMB: 4, Requests: 5}); got != (Usage{1, 2, 3, 4, 5}) {
		t.Errorf("usage %+v", got)
	}
}

// TestKeys: no two rows share a key, keys of a table are in the order of heights, and
// those that are scanned read back.
func TestKeys(t *testing.T) {
	a, b, runner := hash(1), hash(2), chain.Address(counting(9, 20))
	all := []state.StorageKey{
		JobKey(a), SpecKey(a), LatestKey(runner, chain.JobHTTP), LatestKey(runner, chain.JobLLM), PriceKey(chain.JobHTTP, a), CallsKey(runner), TermsKey(a), EligibleKey(a), SeatKey(a, 0, 1), SeatKey(a, 1, 0), WhoKey(a, runner),
		BodyKey(a, 0, 1), BodyKey(a, 1, 0), FoundKey(a, 0, 1), FoundKey(a, 1, 0), OpenKey(runner, a), OpenKey(runner, b), TouchedKey(a), KeptKey(a), KeptKey(b), JobKey(b),
	}
	for _, table := range []string{TableFresh, TableLive, TableDue, TableReady, TableHeavy, TableAsking} {
		low, high := AtKey(table, 255, b), AtKey(table, 256, a)
		if low >= high || AtKey(table, 256, a) >= AtKey(table, 256, b) {
			t.Errorf("%s is not in the order of heights and ids", table)
		}
		all = append(all, low, high)
		if h, id, ok := SplitAt(table, low); h != 255 || id != b || !ok {
			t.Errorf("%s reads back as %d %v %v", table, h, id, ok)
		}
		if _, _, ok := SplitAt(table, low[:len(low)-1]); ok {
			t.Errorf("%s: a shorter key reads back", table)
		}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(all)))
	if len(sorted) != len(all) {
		t.Error("two rows share a key")
	}
	if _, _, ok := SplitAt(TableDue, AtKey(TableLive, 1, a)); ok {
		t.Error("a key of another table reads back")
	}
	if id, ok := SplitTouched(TouchedKey(a)); id != a || !ok {
		t.Error("a touched job does not read back")
	}
	if _, ok := SplitTouched(JobKey(a)); ok {
		t.Error("a job reads as a touched one")
	}
	if r, id, ok := SplitOpen(OpenKey(runner, a)); r != runner || id != a || !ok {
		t.Error("an open seat does not read back")
	}
	if _, _, ok := SplitOpen(WhoKey(a, runner)); ok {
		t.Error("another key reads as an open seat")
	}
}

func fuzzRow(f *testing.F, decode func([]byte) ([]byte, error)) {
	for _, r := range rows() {
		f.Add(r.sample.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := decode(b)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(again, b) {
			t.Fatalf("%x encodes again as %x", b, again)
		}
	})
}

func FuzzJobRow(f *testing.F)  { fuzzRow(f, recode(DecodeJob)) }
func FuzzSeatRow(f *testing.F) { fuzzRow(f, recode(DecodeSeat)) }
