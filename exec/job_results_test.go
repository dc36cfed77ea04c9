package exec_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	dispatcher "github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// readerSource asks for long results: by await, and by a handler that looks for itself.
const readerSource = `
from cowboy_sdk import CowboyError, RunnerError, TaskGroup, actor, job_result, keccak256, public, runner, submit_job

@actor
class Reader:
    def init(self, msg):
        pass

    @public
    @runner.continuation
    async def wait(self, msg):
        schema = {"max_return_bytes": msg.bytes, "expected_execution_ms": 1, "data_format": msg.form}
        result = await runner.llm("p", context={"pad": "c" * msg.pad}, timeout_blocks=200, callback_cycles=msg.cycles, result_schema=schema)
        self.storage["got"] = [type(result.output).__name__, len(result.output), keccak256(str(result.output).encode()), len(result.context["pad"])]

    @public
    @runner.continuation
    async def both(self, msg):
        schema = {"max_return_bytes": msg.bytes, "expected_execution_ms": 1, "data_format": "text"}
        ask = lambda: runner.llm("p", timeout_blocks=200, callback_cycles=300_000, result_schema=schema)
        first, second = await TaskGroup(ask(), ask())
        self.storage["got"] = [len(first.output), len(second.output)]

    @public
    @runner.continuation
    async def either(self, msg):
        schema = {"max_return_bytes": msg.bytes, "expected_execution_ms": 1, "data_format": "text"}
        ask = lambda: runner.llm("p", timeout_blocks=2_000, callback_cycles=300_000, result_schema=schema)
        try:
            first, second = await TaskGroup(ask(), ask())
        except RunnerError as error:
            self.storage["got"] = str(error)

    @public
    def ask(self, msg):
        schema = {"max_return_bytes": msg.bytes, "expected_execution_ms": 1, "data_format": msg.form}
        spec = {"type": "llm", "prompt": "p", "timeout_blocks": 200, "callback_cycles": msg.cycles, "result_schema": schema}
        return submit_job(spec, "answered")

    @public
    def answered(self, msg):
        self.storage["named"] = msg.output
        self.storage["id"] = msg.job_id
        output = job_result(msg.job_id, msg.output["hash"])
        self.storage["got"] = [type(output).__name__, len(output)]

    @public
    def look(self, msg):
        try:
            return len(job_result(msg.id, msg.get("digest")))
        except CowboyError as e:
            return [e.code, str(e)]

    @public
    def got(self, msg):
        return self.storage.get("got")
`

// TestLongResultsAreRead: an answer that has no room for a result of 64 KiB beside a context
// names it, and the handler that waits goes on with it all the same; nobody else reads it, nor
// anybody behind the life of the job.
func TestLongResultsAreRead(t *testing.T) { // market table §13
	a := startSource(t, []byte(readerSource), "null")
	id := a.asks("wait", `{"bytes":65536,"pad":1024,"form":"text","cycles":600000}`, 0)
	text := strings.Repeat("cowboys ", 8_192)
	a.settled(id, dispatcher.OK, text)
	hash := keccak.Sum256([]byte(text))
	a.says("got", "null", fmt.Sprintf(`["str",65536,"%s",1024]`, base64.StdEncoding.EncodeToString(hash[:])))
	a.says("look", fmt.Sprintf(`{"id":{"$bytes":"%x"}}`, id[:]), "65536")
	a.says("look", fmt.Sprintf(`{"id":{"$bytes":"%x"},"digest":{"$bytes":"%x"}}`, id[:], hash[:]), "65536")
	a.says("look", fmt.Sprintf(`{"id":{"$bytes":"%x"},"digest":{"$bytes":"%x"}}`, id[:], id[:]), `["E1602","the result has another hash than the answer says"]`)
	const nothing = `["E1401","no result of that job is kept for the actor"]`
	a.says("look", fmt.Sprintf(`{"id":{"$bytes":"%x"}}`, hash[:]), nothing) // an id that no job has

	own := a.at
	a.at = a.deployed(readerSource, 2, "storage.kv", "oracle.llm")
	look := fmt.Sprintf(`{"id":{"$bytes":"%x"}}`, id[:])
	a.says("look", look, nothing) // another's
	a.at = own

	a.readsBeside(id)
	a.g.Params.Job.KeepBlocks = 3 // a vote
	a.until(id, dispatcher.Ended)
	if kept, err := dispatcher.ReadKept(a.state, id); err != nil || kept == nil || kept.To != own || string(kept.Data) != text {
		t.Fatalf("the row: %v, %v", kept, err)
	}
	for range 5 {
		a.block()
	}
	if rows := a.row(dispatcher.KeptKey(id)); rows != nil {
		t.Errorf("%d bytes are kept of a job that is gone", len(rows))
	}
	a.says("look", look, nothing)
}

// readsBeside holds a block of looks at a job's result, executed beside each other, to the block
// one after the other.
func (a *asking) readsBeside(id chain.Hash) {
	a.t.Helper()
	engines := []*pvm.Engine{testEngine(a.t), testEngine(a.t)}
	x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: len(engines)}, engines)
	if err != nil {
		a.t.Fatal(err)
	}
	var txs []*chain.VerifiedTx
	for n, look := range []string{fmt.Sprintf(`{"id":{"$bytes":"%x"}}`, id[:]), `{"id":{"$bytes":"` + strings.Repeat("00", 32) + `"}}`} {
		from := []chain.Address{alice, bob}[n]
		tx := a.program(from, &a.at, actor.AppendMessage(nil, "look", value(a.t, look))).Tx
		tx.CyclesLimit = 500_000
		txs = append(txs, verified(tx, from))
	}
	want, err := exec.Apply(a.state, a.inputs(), txs)
	if err != nil {
		a.t.Fatal(err)
	}
	got, err := x.Apply(a.state, a.inputs(), txs)
	if err != nil || !slices.Equal(lines(&got), lines(&want)) {
		a.t.Errorf("beside each other: %v\n%v\nwant\n%v", err, lines(&got), lines(&want))
	}
}

// TestResultsAreReadByTheirFormat: JSON is read as what it says, also where it nests too deep
// for a message and is short, and bytes as bytes.
func TestResultsAreReadByTheirFormat(t *testing.T) {
	a := startSource(t, []byte(readerSource), "null")
	for n, c := range []struct{ form, data, want string }{
		{"json", "[" + strings.Repeat(`{"a":0.5},`, 4_000) + "1]", `["list",4001]`},
		{"json", strings.Repeat("[", 40) + strings.Repeat("]", 40), `["list",1]`},
		{"json", "[1e400,2]", `["list",2]`},
		{"bytes", strings.Repeat("\xff\x00", 17_000), `["bytes",34000]`},
	} {
		id := a.asks("ask", fmt.Sprintf(`{"bytes":%d,"form":%q,"cycles":900000}`, max(len(c.data), 100), c.form), uint64(n))
		if told := a.settle(id, c.data); told[0].Code != chain.CodeOK {
			t.Errorf("%.10s: the answer: %+v", c.data, told[0])
		}
		a.says("got", "null", c.want)
	}
}

// TestAGroupReadsItsResults: each of a group is read when all are in.
func TestAGroupReadsItsResults(t *testing.T) {
	a := startSource(t, []byte(readerSource), "null")
	a.does("both", `{"bytes":33000}`)
	first, second := chain.ActorJobID(a.at, 0, a.height), chain.ActorJobID(a.at, 1, a.height)
	a.settled(first, dispatcher.OK, strings.Repeat("a", 33_000))
	a.settled(second, dispatcher.OK, strings.Repeat("b", 32_800))
	a.says("got", "null", `[33000,32800]`)
}

// TestAGroupOutlivesAResult: where what the first answer names is kept no longer when the last
// one comes, the await raises RunnerError, as for a request that failed.
func TestAGroupOutlivesAResult(t *testing.T) {
	a := startSource(t, []byte(readerSource), "null")
	a.does("either", `{"bytes":33000}`)
	first, second := chain.ActorJobID(a.at, 0, a.height), chain.ActorJobID(a.at, 1, a.height)
	a.settled(first, dispatcher.OK, strings.Repeat("a", 33_000))
	a.g.Params.Job.KeepBlocks = 3 // a vote
	a.until(first, dispatcher.Ended)
	for range 5 {
		a.block()
	}
	if row := a.row(dispatcher.KeptKey(first)); row != nil {
		t.Fatalf("%d bytes are kept", len(row))
	}
	a.settled(second, dispatcher.OK, strings.Repeat("b", 33_000))
	a.says("got", "null", `"the result is no longer kept"`)
}

// TestKeepingIsPaid: a job pays for keeping its result where its answer may have no room for
// it, and the longest result that it does not pay for stands in its answer. What is kept is no
// more than a byte a cell.
func TestKeepingIsPaid(t *testing.T) {
	a := startSource(t, []byte(readerSource), "null")
	sent := uint64(0)
	ask := func(form string, bytes int) chain.Receipt {
		t.Helper()
		tx := a.program(alice, &a.at, actor.AppendMessage(nil, "ask", value(t, fmt.Sprintf(`{"bytes":%d,"form":%q,"cycles":100000}`, bytes, form)))).Tx
		tx.CyclesLimit, tx.CellsLimit = 2_000_000, 200_000
		sent++
		return a.must(verified(tx, alice))
	}
	api := &a.g.Params.API
	row := chain.Usage{Cycles: api.StorageWriteCycles, Cells: chain.Cells(api.NewEntryCells) + 48*api.StorageWriteByteCells}
	ask("text", 1_000) // the first one writes rows that the others write again
	// Twice the data, 192 bytes, 21 of the runner and 66 of the correlation id are 64 KiB.
	const low, high = (64<<10 - 192 - 21 - 66) / 2, (64<<10-192-21-66)/2 + 1
	free, paid := ask("text", low), ask("text", high)
	if got, want := paid.CyclesUsed-free.CyclesUsed, row.Cycles+chain.Cycles(high)*api.StorageWriteByteCycles; got < want || got > want+100 {
		t.Errorf("keeping %d bytes costs %d cycles, want %d", high, got, want)
	}
	if got := paid.CellsUsed - free.CellsUsed; got != row.Cells+1 {
		t.Errorf("keeping %d bytes costs %d cells besides those of the answer, want %d", high, got-1, row.Cells)
	}
	if got := free.CellsUsed - ask("text", 1_000).CellsUsed; got != chain.Cells(low-1_000) {
		t.Errorf("%d bytes more cost %d cells", low-1_000, got)
	}
	if text, json := ask("text", 1_000), ask("json", 1_000); json.CellsUsed-text.CellsUsed != row.Cells {
		t.Errorf("JSON costs %d cells more", json.CellsUsed-text.CellsUsed)
	}

	for bytes, kept := range map[int]bool{low: false, high + 200: true} {
		ask("text", bytes)
		id := chain.ActorJobID(a.at, sent-1, a.height)
		a.settle(id, strings.Repeat("x", bytes))
		if row := a.row(dispatcher.KeptKey(id)); (row != nil) != kept || len(row) > bytes+48 {
			t.Errorf("of %d bytes, %d are kept", bytes, len(row))
		}
	}
}
