package jobs

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestCounters: what is counted reads back, by kind and model and by actor; a row of another
// form is a fault.
func TestCounters(t *testing.T) {
	o := state.NewOverlay(state.Empty{})
	b, model, actor := &Book{State: o}, hash(3), chain.Address{5}
	want := Prices{7, [2]uint64{1, 2}, [4]uint64{3, 4, 5, 1<<64 - 1}}
	b.PutPrices(chain.JobLLM, model, &want)
	if got, err := ReadPrices(o, chain.JobLLM, model); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ReadPrices(o, chain.JobHTTP, model); err != nil || got != (Prices{}) {
		t.Errorf("another kind: %+v, %v", got, err)
	}
	for range 3 {
		if err := errors.Join(CountCalls(o, actor, Calls{Sent: 1}), CountCalls(o, actor, Calls{Failed: 2})); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadCalls(o, actor); err != nil || got != (Calls{3, 6}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ReadCalls(o, chain.Address{6}); err != nil || got != (Calls{}) {
		t.Errorf("another actor: %+v, %v", got, err)
	}
	b.set(PriceKey(chain.JobLLM, model), []byte{1})
	b.set(CallsKey(actor), []byte{0x82, 1})
	if _, err := ReadPrices(o, chain.JobLLM, model); !errors.Is(err, ErrRecord) {
		t.Errorf("a short row: %v", err)
	}
	if err := CountCalls(o, actor, Calls{}); !errors.Is(err, ErrRecord) {
		t.Errorf("half a row: %v", err)
	}
}

// TestJobsAreStamped: a job keeps the time of its block, from which freshness may be
// reckoned (resolution 12.46).
func TestJobsAreStamped(t *testing.T) {
	o := state.NewOverlay(state.Empty{})
	p := params.Default()
	b := &Book{State: o, Params: &p, Height: 4, Millis: 1_700_000_000_000}
	spec := &chain.JobSpec{JobType: &chain.HTTPJob{URL: "https://a.example/"}}
	if err := b.Submit(hash(1), chain.Address{1}, spec, &chain.JobTerms{ResultSchema: chain.ResultSchema{DataFormat: chain.FormatText}}, Loads{}); err != nil {
		t.Fatal(err)
	}
	if j, err := Read(o, hash(1)); err != nil || j.SubmittedMillis != 1_700_000_000_000 {
		t.Errorf("%+v, %v", j, err)
	}
}
