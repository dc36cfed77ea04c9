package main

import (
	"strings"
	"text/template"

	"github.com/cowboy-foundation/cowboy/chain/params"
)

// prices tells what a transaction pays beyond the intrinsic cost, and why that is the
// price. The numbers are those of the default parameters.
const prices = `
## What is charged besides, and why

Cycles stand for time: a cycle is to take at most 50 ns of one core on the worst state that the
limits allow, whatever a node has in its caches. Cells stand for bytes: what all nodes keep or send
for good is to be at most two bytes for each cell. "make bench-exec" and "make bench-pvm-costs" print
the ten worst of either. The numbers are defaults of the genesis parameters (api_costs, actor_limits).

| for | price | why |
|---|---|---|
| a new entry of any storage | {{.API.NewEntryCells}} cells, and its bytes | tries and rows take some 180 bytes besides key and value; the state after the run is weighed against the one before, so that nobody has to list what grows ([ADR 62](adr/0062-what-grows-is-weighed.md)) |
| a new account that a program makes | {{.API.NewAccountCells}} cells | what it takes of tries and rows. The value of a transaction makes one for nothing on a young chain: the smallest transfer is what all is compared with |
| a row of the protocol that gets longer | 1 cell for each byte more | programs pay for those that they name; these nobody names ([ADR 90](adr/0090-kept-bytes-closer-to-cells.md)) |
| a row of the entitlement registry that is written again | {{.API.StorageWriteByteCycles}} cycles and {{.API.StorageWriteByteCells}} cell for each byte of key and value, as far as it was there; half the cells by governance | who keeps old states keeps what was there: a role of 16 scopes rewrites 16 rows of up to 2 KiB ([ADR 209](adr/0209-rewritten-rows-of-the-registry-are-paid.md)) |
| code that nobody had kept | 1 cell a byte; free are the first {{.API.CodeFreeBytes}} bytes that stood in the payload | it stays for good, and no quota counts it ([ADR 64](adr/0064-code-and-records-are-paid-once.md)) |
| all of the above, on a full state | times a factor of 1 to {{.Factor}} | filling the state cannot be bought in days ([rent.md](rent.md#the-price-of-the-whole-state)) |
| an event | {{.API.EventCells}} cells, 1 for {{.API.EventBytesPerCell}} bytes, and as much again beyond {{.API.EventShortBytes}} bytes | its heads in the receipt; long ones would keep two bytes a cell |
| each message of a run | {{.API.DeliveryCells}} cells | its place in the receipt's trace |
| a message that waits | at least {{.API.DeliveryCycles}} cycles and {{.API.DeliveryCells}} cells, reserved when it is sent | its delivery, or its refusal, has a receipt in a later block. It counts towards the base fee once, when it is paid ([ADR 126](adr/0126-deliveries-count-once.md)) |
| a firing of a timer | {{.API.FiringCycles}} cycles and {{.API.FiringCells}} cells, within its limits | the receipt is there even where nothing ran |
| a look at a due timer that cannot fire | {{.API.FiringCycles}} cycles at the timer lane's base fee, burned of its escrow, for each but the first | it waits {{.Timer.RebidDeferrals}} blocks, then as long again as it has waited, up to {{.Timer.MaxUnfundedDeferrals}}; who cannot pay for a look is ended ([ADR 207](adr/0207-who-cannot-fire-pays-to-wait.md)) |
| a timer set, moved or taken out | {{.API.TimerSetCycles}} + {{.API.TimerFileCycles}} cycles, 1 a byte of its data; who sets or moves one burns the queue's base fee besides, {{.Timer.MinBaseFee}} to {{.Timer.MaxBaseFee}} base units | five to nine records of the queues; the fee follows the number of timers up to a ceiling ([ADR 155](adr/0155-the-queues-base-fee-has-a-ceiling.md)) |
| deploying, spawning, replacing code | what compiling takes, at least {{.API.DeployByteCycles}} cycles a byte | tokens, names, scopes and instructions are paid stage by stage, before the work ([ADR 59](adr/0059-compiling-is-priced-by-what-it-makes.md)) |
| the first use of code in a block | the same again; of another's code at most {{.Limits.LoadCycles}} cycles | some node has it in no cache; all later uses in the block pay nothing ([ADR 58](adr/0058-first-use-of-code-pays-its-compilation.md), [89](adr/0089-who-calls-pays-a-bounded-first-use.md)) |
| each call of a program | {{.API.EntryItemCycles}} cycles for each of its names and constants, a cycle for {{.API.ManifestBytesPerCycle}} bytes of its manifest | both are made ready anew: 60 to 150 ns, 6 ns |
| a manifest that is brought | {{.API.ManifestByteCycles}} cycles a byte | read, checked, hashed and written |
| reads, writes and scans of storage | {{.API.StorageReadCycles}}, {{.API.StorageWriteCycles}} and {{.API.StorageScanCycles}} cycles and their bytes | the largest record, cold, among ten million |
| an operation on tokens | whitepaper §17.3, at least the bytes of its event | the event is what stays of it |
| a BLS or VRF signature verified | {{.API.VerifyBLSCycles}}, {{.API.VerifyVRFCycles}} cycles | two pairings |

What a handler's exception says of itself is not asked in a block: the text of a traceback is part of no
receipt, and asking runs the program's code when its cycles were counted. Estimates and reads show it.
What was empty before a run and is empty again after it costs nothing; what is deleted gives nothing back
([ADR 62](adr/0062-what-grows-is-weighed.md)). All other operations of the machine are in
[pvm-costs.md](pvm-costs.md); the price of what ordinary work costs, before and after these rules, is in ADR 62.
`

// pricesText fills the page's part with the default parameters.
func pricesText() string {
	p := params.Default()
	var b strings.Builder
	err := template.Must(template.New("prices").Parse(prices)).Execute(&b, map[string]any{
		"API": p.API, "Limits": p.Actor, "Timer": p.Timer, "Factor": uint64(1) << (p.State.PriceDoublings - 1),
	})
	if err != nil {
		panic(err) // the text names a field that is gone: go generate fails, and so does its test
	}
	return b.String()
}
