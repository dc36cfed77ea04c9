package ledger

import (
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestJobsOfABlock: the index has who asked for a job in the block of the submission, and who
// was drawn in that of the draw, whatever else the block did to the job.
func TestJobsOfABlock(t *testing.T) {
	ann, ben, cat := chain.Address{1}, chain.Address{2}, chain.Address{3}
	job := func(n byte) chain.Hash { return chain.Hash{n} }
	type row struct {
		key   state.StorageKey
		value []byte
	}
	submitted := func(n byte, by chain.Address, live []byte) []row {
		return []row{
			{jobs.JobKey(job(n)), (&jobs.Job{Submitter: by, SubmittedAt: 1}).Encode()},
			{jobs.AtKey(jobs.TableLive, 1, job(n)), live},
			{jobs.AtKey(jobs.TableFresh, 1, job(n)), live},
			{jobs.SpecKey(job(n)), []byte{1}},
		}
	}
	drawn := func(n byte, runner chain.Address) []row {
		return []row{
			{jobs.SeatKey(job(n), 0, 0), (&jobs.Seat{Runner: runner}).Encode()},
			{jobs.WhoKey(job(n), runner), []byte{0, 0}},
			{jobs.OpenKey(runner, job(n)), nil}, // and has shown its result
		}
	}
	for name, tt := range map[string]struct {
		rows [][]row
		want []store.JobsOf
	}{
		"nothing":              {},
		"a job":                {[][]row{submitted(5, ann, []byte{})}, []store.JobsOf{{Side: store.Submits, Of: ann, IDs: []chain.Hash{job(5)}}}},
		"over in its block":    {[][]row{submitted(5, ann, nil)}, []store.JobsOf{{Side: store.Submits, Of: ann, IDs: []chain.Hash{job(5)}}}},
		"over later":           {[][]row{{{jobs.AtKey(jobs.TableLive, 0, job(5)), nil}, {jobs.JobKey(job(5)), (&jobs.Job{Submitter: ann}).Encode()}}}, nil},
		"a draw":               {[][]row{drawn(5, ben)}, []store.JobsOf{{Side: store.Works, Of: ben, IDs: []chain.Hash{job(5)}}}},
		"a job that is pruned": {[][]row{{{jobs.WhoKey(job(5), ben), nil}, {jobs.SpecKey(job(5)), nil}, {jobs.JobKey(job(5)), nil}}}, nil},
		"a live row alone":     {[][]row{{{jobs.AtKey(jobs.TableLive, 1, job(5)), []byte{}}}}, nil},
		"several, sorted": {
			[][]row{drawn(9, ben), submitted(8, cat, nil), submitted(7, ann, []byte{}), drawn(2, ben), submitted(3, cat, []byte{}), drawn(2, ann)},
			[]store.JobsOf{
				{Side: store.Submits, Of: ann, IDs: []chain.Hash{job(7)}},
				{Side: store.Submits, Of: cat, IDs: []chain.Hash{job(3), job(8)}},
				{Side: store.Works, Of: ann, IDs: []chain.Hash{job(2)}},
				{Side: store.Works, Of: ben, IDs: []chain.Hash{job(2), job(9)}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := store.DefaultOptions()
			opts.FS = vfs.NewMem()
			db, err := store.Open("data", opts)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.Init(store.GenesisRecord{Hash: chain.Hash{9}, Delta: state.NewDelta()}); err != nil {
				t.Fatal(err)
			}
			delta := state.NewDelta()
			delta.SetAccount(chain.AddrJobDispatcher, state.Account{Balance: 1})
			for _, rows := range tt.rows {
				for _, r := range rows {
					delta.SetStorage(chain.AddrJobDispatcher, r.key, r.value)
				}
			}
			delta.SetStorage(chain.AddrRunnerRegistry, jobs.WhoKey(job(5), cat), []byte{0, 0}) // another's storage
			after, err := db.Head().Apply(delta)
			if err != nil {
				t.Fatal(err)
			}
			got, err := jobsOf(delta, after)
			if err != nil || len(got)+len(tt.want) > 0 && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
	if got, err := jobsOf(nil, nil); got != nil || err != nil {
		t.Errorf("a block that writes nothing: %v, %v", got, err)
	}
}
