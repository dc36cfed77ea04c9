package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/gate"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// Tables returns the hashes of what every node of a chain must have in common and no
// parameter says: what the machine charges and what its exceptions say (ADR 33), and
// the fixed limits of [LimitTable] under the same hash as the charges (ADR 79).
func Tables() params.MachineTables {
	costs := pvm.CostTable(code.DefaultCosts(), host.DefaultCosts())
	return params.MachineTables{
		CostTable:      keccak.Sum256([]byte(costs), []byte(LimitTable())),
		ExceptionTexts: chain.Hash(pvm.TextTableHash()),
	}
}

// CheckImports reports the first module that a genesis lists and this build's machine
// does not have, as a *[MissingModule].
func CheckImports(p *params.Params) error {
	have := gate.LibraryModules()
	// Bounded: by the modules that the genesis lists, once a start.
	for _, name := range p.Actor.Imports {
		// Bounded: by the modules of the library, some twenty.
		if !slices.Contains(have, name) {
			return &MissingModule{Name: name}
		}
	}
	return nil
}

// MissingModule means that a genesis lists a module that the machine does not have.
type MissingModule struct{ Name string }

func (e *MissingModule) Error() string {
	return fmt.Sprintf("params.actor_limits.imports lists %q, and the machine of this build has no such module: it has %s",
		// Bounded: by the modules of the library, some twenty.
		e.Name, strings.Join(gate.LibraryModules(), ", "))
}

// LimitTable returns the limits that are consensus and no parameters, one a line. Most
// of them bound what a record or a program may have; nobody has measured the protocol
// with others.
func LimitTable() string {
	var b strings.Builder
	// Bounded: by the table of limits, for people and tests.
	for _, r := range limits() {
		fmt.Fprintf(&b, "limit %s %d\n", r.name, r.value)
	}
	return b.String()
}

type limit struct {
	name  string
	value uint64
}

func limits() []limit {
	return append(append(machineLimits(), sdkLimits()...), []limit{
		{"cbor2.bytes", uint64(lib.CBORProfile().Bytes)},
		{"cbor2.depth", uint64(lib.CBORProfile().Depth)},
		{"mailbox.ahead_blocks", mailbox.MaxAhead},
		{"mailbox.inline_bytes", mailbox.InlineBytes},
		{"mailbox.turn_items", turnItems},
		{"mailbox.intake", intake},
		{"mailbox.turns_per_entry", turnsPerEntry},
		{"mailbox.recent_blocks", mailbox.MostRecent},
		{"mailbox.nap_blocks", mailbox.MostNap},
		{"mailbox.turns_per_wake", turnsPerWake},
		{"fees.timer_rest_eighths", fees.TimerRestEighths},
		{"timers.ahead_blocks", timers.MaxAhead},
		{"timers.handler_bytes", timers.MaxHandlerBytes},
		{"timers.inline_bytes", timers.InlineBytes},
		{"timers.tip_blocks", timers.TipBlocksMax},
		{"entitle.grants", manifest.MaxGrants},
		{"entitle.id_bytes", manifest.MaxIDBytes},
		{"entitle.list_items", manifest.MaxListItems},
		{"entitle.value_bytes", manifest.MaxValueBytes},
		{"permit.grants", entitlements.MaxGrants},
		{"permit.roles", entitlements.MaxRoles},
		{"permit.depth", entitlements.MaxDepth},
		{"permit.scopes", entitlements.MaxScopes},
		{"permit.actions", entitlements.MaxActions},
		{"permit.name_bytes", entitlements.MaxNameBytes},
		{"permit.few_looked", entitlements.FewLooked},
		{"token.name_bytes", token.MaxNameBytes},
		{"token.symbol_bytes", token.MaxSymbolBytes},
		{"token.decimals", token.MaxDecimals},
		{"token.payments", token.MaxPayments},
		{"governance.settings", governance.MaxSettings},
		{"governance.entry_key_bytes", governance.MaxEntryKey},
		{"governance.entry_value_bytes", governance.MaxEntryValue},
		{"runners.tranches", runners.MaxTranches},
		{"runners.silent", params.SilentRunnersMax},
		{"runners.forget", runners.ForgetStep},
		{"jobs.prune_rows", jobs.PruneRows},
		{"jobs.event_seats", jobs.EventSeats},
		{"jobs.retry_lookahead", jobs.RetryLookahead},
		{"jobs.share_of_draws", jobs.ShareOfDraws},
		{"jobs.redraw_candidates", jobs.RedrawCandidates},
		{"jobs.bond_multiplier_e6", jobs.MaxBondMultiplierE6},
		{"judge.min_fresh_millis", judge.MinFreshMillis},
		{"jobs.lane_parts", jobs.LaneParts},
		{"jobs.record_bytes", jobs.RecordBytes},
		{"jobs.frame_bytes", jobs.FrameBytes},
		{"results.judged", params.JudgedJobsMax},
		{"results.light_part", results.LightPart},
		{"results.asking_tries", results.AskingTries},
		{"results.read_bytes", results.ReadBytes},
		{"jobs.answer_bytes", jobs.AnswerBytes},
		{"results.post_heights", postHeights},
		{"runners.offer_bytes", chain.MaxOfferBytes},
		{"chain.setting_path_bytes", params.MaxSettingPath},
		{"chain.setting_bytes", params.MaxSettingBytes},
		{"chain.tx_bytes", chain.MaxTxBytes},
		{"chain.access_entries", chain.MaxAccessEntries},
		{"chain.access_keys", chain.MaxAccessKeys},
		{"chain.event_name_bytes", chain.MaxEventName},
		{"chain.deliveries", chain.MaxDeliveries},
		{"chain.output_bytes", chain.MaxOutputBytes},
		{"chain.salt_bytes", chain.MaxSaltBytes},
	}...)
}

// machineLimits are those of compiling and running a program.
func machineLimits() []limit {
	run, build := vm.DefaultLimits(), pvm.DefaultLimits()
	s, c, k := build.Compile.Syntax, build.Compile, build.Continuation
	return []limit{
		{"vm.recursion", uint64(run.RecursionDepth)},
		{"vm.output_bytes", uint64(run.OutputBytes)},
		{"vm.int_digits", uint64(run.IntDigits)},
		{"vm.mro_classes", uint64(run.MROClasses)},
		{"syntax.source_bytes", uint64(s.SourceBytes)},
		{"syntax.tokens", uint64(s.Tokens)},
		{"syntax.depth", uint64(s.Depth)},
		{"syntax.tree_height", uint64(s.TreeHeight)},
		{"syntax.constants", uint64(s.Constants)},
		{"syntax.int_digits", uint64(s.IntDigits)},
		{"scope.scopes", uint64(c.Scope.Scopes)},
		{"scope.symbols", uint64(c.Scope.Symbols)},
		{"scope.mangled_bytes", uint64(c.Scope.MangledBytes)},
		{"compile.registers", uint64(c.Registers)},
		{"compile.constants", uint64(c.Constants)},
		{"compile.names", uint64(c.Names)},
		{"compile.instructions", uint64(c.Instructions)},
		{"compile.codes", uint64(c.Codes)},
		{"compile.handlers", uint64(c.Handlers)},
		{"compile.name_bytes", uint64(c.NameBytes)},
		{"gate.findings", uint64(build.Gate.Findings)},
		{"continuation.awaits", uint64(k.Awaits)},
		{"continuation.statements", uint64(k.Statements)},
		{"continuation.variables", uint64(k.Variables)},
	}
}

// sdkLimits are those of what a program asks of the chain. The bytes of values and
// of scratch files are parameters.
func sdkLimits() []limit {
	l := sdk.DefaultLimits()
	out := []limit{
		{"sdk.value_depth", uint64(l.Value.Depth)},
		{"sdk.key_bytes", uint64(l.KeyBytes)},
		{"sdk.name_bytes", uint64(l.NameBytes)},
		{"sdk.scan_entries", uint64(l.ScanEntries)},
		{"sdk.scratch_files", uint64(l.ScratchFiles)},
		{"sdk.continuations", uint64(l.Continuations)},
	}
	// Bounded: by the table of limits, for people and tests.
	for _, r := range sdk.FixedLimits() {
		out = append(out, limit{"sdk." + r.Name, uint64(r.Value)})
	}
	return out
}
