package exec_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A fault ends the process of every validator that meets it, so nothing that a
// transaction may have influenced may end in one. TestFaultSites lists every place in
// execution that says of something read that it cannot be: with the reason why no
// transaction gets there. A new place fails the test until it is listed.

// site is a place: a folder, the function, and what it uses.
type site struct{ folder, function, uses string }

// faultNames are the contradictions, and the readers of records that begin with other
// packages' decoders.
var faultNames = map[string]bool{
	"ErrRecord": true, "ErrMoney": true, "ErrNoSupply": true, "ErrSupplyRecord": true, "ErrNoConviction": true,
	"ErrConvictionRecord": true, "ErrNoEngine": true, "ErrHeight": true,
	"Fault": true, "fault": true, "Panicked": true, // of this package
	"Parse": true, "ParseMeta": true, "RecordOf": true, // of packages manifest and state/rent
	"ParseMessage": true, "ParsePayload": true, // of payloads that were judged
}

// sitesOf returns how often the functions of a folder use them.
func sitesOf(t *testing.T, folder string) map[site]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	out := map[site]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			for name, n := range usesIn(f.Body) {
				out[site{folder, f.Name.Name, name}] += n
			}
		}
	}
	return out
}

// usesIn counts the names in a body: calls and values, but not what errors.Is and
// errors.As look for, which is no place where one is made.
func usesIn(body ast.Node) map[string]int {
	uses := map[string]int{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Is" || s.Sel.Name == "As") {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "errors" {
					return false
				}
			}
			if raw(n) {
				uses["Errorf"]++
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && faultNames[n.Sel.Name] && foreign[x.Name] {
				uses[x.Name+"."+n.Sel.Name]++
				return false
			}
		case *ast.Ident:
			if faultNames[n.Name] && n.Name != "Parse" && n.Name != "RecordOf" {
				uses[n.Name]++
			}
		}
		return true
	})
	return uses
}

// raw reports whether a call makes an error that wraps none of those that have names.
func raw(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Errorf" && s.Sel.Name != "New" || len(call.Args) == 0 {
		return false
	}
	if x, ok := s.X.(*ast.Ident); !ok || x.Name != "fmt" && x.Name != "errors" {
		return false
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	return ok && !strings.HasPrefix(text.Value, `"%w`)
}

// foreign are the packages whose names count where they are qualified.
var foreign = map[string]bool{"exec": true, "manifest": true, "rent": true, "stored": true, "chain": true, "actor": true}

func TestFaultSites(t *testing.T) {
	found := map[site]int{}
	for _, folder := range []string{
		"exec", "exec/actor", "exec/manifest", "exec/funds", "exec/governance", "exec/mailbox", "exec/parallel", "exec/entitlements",
		"exec/market", "exec/market/jobs", "exec/market/results", "exec/market/runners", "exec/pvm", "exec/rent", "exec/staking", "exec/timers", "exec/token", "state/rent",
	} {
		maps.Copy(found, sitesOf(t, folder))
	}
	known := listedSites(t)
	var wrong []string
	for s, n := range found {
		if known[s] != n {
			wrong = append(wrong, fmt.Sprintf("%s: %s uses %s %d times, listed %d: say why no transaction gets there, or refuse", s.folder, s.function, s.uses, n, known[s]))
		}
	}
	for s := range known {
		if found[s] == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s does not use %s any more", s.folder, s.function, s.uses))
		}
	}
	slices.Sort(wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}

// listedSites reads the list below.
func listedSites(t *testing.T) map[site]int {
	t.Helper()
	out := map[site]int{}
	for _, row := range faultSites {
		for line := range strings.Lines(row.sites) {
			folder, uses, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok {
				continue
			}
			for use := range strings.SplitSeq(uses, ", ") {
				s, times := site{folder: folder}, 1
				function, name, _ := strings.Cut(use, " ")
				if plain, n, many := strings.Cut(name, "*"); many {
					count, err := strconv.Atoi(n)
					if err != nil {
						t.Fatalf("%q: %v", use, err)
					}
					name, times = plain, count
				}
				if s.function, s.uses = function, name; out[s] != 0 {
					t.Errorf("%s stands twice", use)
				}
				out[s] = times
			}
		}
	}
	return out
}

// faultSites are the places, by the reason why no transaction gets there. A line is a
// folder with its functions and what each uses, with how often.
var faultSites = []struct{ reason, sites string }{
	{
		"a row of a system account, which this package alone writes, with fields no wider than it reads them; programs write their own account, a restoration that of a dormant actor, and no system account is ever dormant", `
			exec/actor: NewCode ErrRecord, ReadQuota ErrRecord, ReadRecord ErrRecord, blobPlace ErrRecord
			exec/governance: Count ErrRecord, Read ErrRecord
			exec/mailbox: DecodeItem ErrRecord, readCount ErrRecord, readPair ErrRecord, readSpan ErrRecord
			exec/entitlements: Holder ErrRecord, ReadGrant ErrRecord, ReadRole ErrRecord, assigned ErrRecord, counts ErrRecord
			exec/entitlements: idsAt ErrRecord, leave ErrRecord, room ErrRecord
			exec/market/jobs: ReadWho ErrRecord, whole ErrRecord, DecodeKept ErrRecord, ReadCalls ErrRecord, ReadPrices ErrRecord
			exec/market/results: judgeNew ErrRecord, judgeWaiting ErrRecord, found ErrRecord, readPapers ErrRecord*2
			exec/market/runners: readCount ErrRecord, readLong ErrRecord, ReadConfig ErrRecord, DecodeOffer ErrRecord*5, Seen ErrRecord, Decode ErrRecord*4, lastHeard ErrRecord, open ErrRecord
			exec/rent: StakeOf ErrRecord, item ErrRecord, read ErrRecord
			exec/staking: decodeConviction ErrConvictionRecord*2, readNumber ErrConvictionRecord
			exec/timers: end ErrRecord
			exec/token: Read ErrRecord, decode Errorf, readAmount ErrRecord, readCount ErrRecord
		`,
	},
	{
		"two rows of a system account that are written and dropped together, so that one names what the other has", `
			exec/actor: ReadManifest ErrRecord, record ErrRecord
			exec/governance: ByNumber ErrRecord
			exec/mailbox: Due ErrRecord, Open ErrRecord, Peek ErrRecord, Pop ErrRecord, TakeDue ErrRecord, first ErrRecord, firstDue ErrRecord
			exec/mailbox: readItemAt ErrRecord, countHandedOut ErrRecord, takeLast ErrRecord
			exec/entitlements: at ErrRecord, byRole ErrRecord, removeAt ErrRecord, listed ErrRecord, wayAt ErrRecord
			exec/market/runners: AddressAt ErrRecord, silence ErrRecord*2, set ErrRecord, entries ErrRecord, forgetFrom ErrRecord, WeighedAt ErrRecord
			exec/market/runners: seated ErrRecord, countLong ErrRecord, Unseated ErrRecord, Release ErrRecord
			exec/market/jobs: Candidates ErrRecord, snapshotOf ErrRecord, job ErrRecord, asked ErrRecord, await ErrRecord, drop ErrRecord
			exec/market/results: body ErrRecord, papers ErrRecord*2, seat ErrRecord, show ErrRecord, settle ErrRecord
			exec/market/jobs: at ErrRecord, SubmittedWithin ErrRecord, Due ErrRecord, happen ErrRecord, longestWaiting ErrRecord, takeDue ErrRecord
			exec/market/jobs: Promises ErrRecord, TakeBack ErrRecord, readNumbers ErrRecord, turnLane ErrRecord
			exec/rent: pending ErrRecord
			exec/staking: ReadConviction ErrNoConviction
			exec/timers: DropAll ErrRecord, insert ErrRecord, load ErrRecord, loadLink ErrRecord, move ErrRecord
			exec/timers: openData ErrRecord, remove ErrRecord, unlink ErrRecord
			exec/token: At ErrRecord
		`,
	},
	{
		"the sum of all balances, and of all that is burned and issued, is the supply, which has 64 bits; the estimates lend no more than what the supply leaves", `
			exec: Burn ErrMoney, beginRent ErrMoney, keepMarket ErrMoney, complete ErrMoney, write ErrMoney
			exec/funds: Issue ErrMoney
			exec/staking: Reward ErrMoney*2, bookBlock ErrMoney
			exec/parallel: beside exec.Fault
			exec/rent: burn Errorf
		`,
	},
	{
		"the sum of a token's balances is its supply, which Create and Mint keep within 128 bits, and every move keeps; hooks run before a move reads", `
			exec/token: Burn ErrRecord, Mint ErrRecord, move ErrRecord
		`,
	},
	{
		"wraps what a callee could not read, or a contradiction that stands in this list at its own place; verdicts were taken out before", `
			exec: Estimate Fault*3, leftOf Fault
			exec: account Fault, askAgents Fault*3, askAgents fault*2, candidates fault, execute Fault*2, beginRent Fault*2, beginRent fault
			exec: begin Fault, credit Fault, deliverWaiting Fault*2, deploy Fault, deploy fault, fault Fault, finish Fault*3
			exec: StateMeter Fault, founding Fault
			exec: fireTimers fault*4
			exec: judge Fault, IsRunner Fault, IsAssigned Fault, verifierLimit Fault, askVerifier Fault, countAnswer fault, Target Fault, keepMarket Fault, message Fault, message fault, deliverNext fault*5
			exec: instruct fault, lend Fault, selectTimers Fault, selectTimers fault
			exec: takeUp fault*2, transfer Fault, transfer fault, dealTurn fault*3, write Fault
			exec/actor: Growth Errorf, deliverItem Errorf
			exec/rent: Begin Errorf
		`,
	},
	{
		"reads a payload again that Classify took in this form for the transaction to be valid; values that may be out of range are verdicts", `
			exec: deploy actor.ParsePayload
			exec: message chain.ParseMessage
			exec/parallel: foresee chain.ParseMessage
		`,
	},
	{
		"arguments of an instruction, whose errors the caller makes the code bad_argument, or wraps in ErrArgument", `
			exec/timers: readTimerSetting Errorf
		`,
	},
	{
		"the list of grants was parsed before it was stored under its hash, and parsing depends on the bytes alone; of a list that a program gives, the error is a refusal", `
			exec/market/runners: checkAttestation manifest.Parse, knownOf manifest.Parse
			exec/actor: ReadGrants ErrRecord, ReadGrants manifest.Parse, inherited manifest.Parse, keepManifest manifest.Parse
			exec/actor: warnDeprecated manifest.Parse
		`,
	},
	{
		"metadata of accounts is written by the genesis, whose locks Check has parsed, and by this package for a dormant actor; nothing else sets it", `
			exec/funds: Spendable Errorf, Spendable rent.ParseMeta
			exec/rent: readAccount stored.RecordOf, moved stored.RecordOf
			state/rent: dormant Errorf, dormant ParseMeta, parseRecord ErrRecord*3
		`,
	},
	{
		"the source compiled when it was deployed, spawned or put in place, with the same limits, which belong to the version", `
			exec/actor: program Errorf
		`,
	},
	{
		"settings are written by this package alone, by the writer of the form that it reads, and put in force without judging them again; one that a newer build voted ends a start by its name (ADR 87)", `
			exec/governance: readSettings ErrRecord*3
		`,
	},
	{
		"the caller of execution gives neither: the node has an engine, and its blocks begin at 1", `
			exec: Begin ErrHeight, Begin Fault
			exec/actor: ready ErrNoEngine
		`,
	},
	{
		"makes an error of a panic for a proposer, who leaves the transaction out, or for a reader", `
			exec: Panicked Fault, execute Panicked
			exec/parallel: execute exec.Panicked
		`,
	},
	{
		"written by the genesis and by every block since", `
			exec/staking: ReadSupply ErrNoSupply, decodeSupply ErrSupplyRecord
		`,
	},
	{
		"tables of the program itself, the same at every start: fails on the first block or never", `
			exec/pvm: NewRuntime Errorf, RuntimeConfig Errorf
		`,
	},
	{
		"an error of the source, which its deployment answers with code_invalid; who has called the compiler for a program that is stored has listed that place", `
			exec/pvm: compileSource Errorf, front Errorf
		`,
	},
	{
		"a refusal of what a proposal or a grant asks for, whose errors are verdicts of its package", `
			exec/governance: deprecate Errorf*2, readEntry Errorf, undoable Errorf*4
			exec/mailbox: Defer Errorf
			exec/entitlements: check Errorf*4, read Errorf*2, readList Errorf
			state/rent: ascending Errorf
		`,
	},
	{
		"keeps a fault until the run is over: a caller without an engine, which stands in this list", `
			exec/actor: compile fault*3, closeRun fault
		`,
	},
	{
		"reads and writes the quota of an actor when the run is over, which stands in this list", `
			exec/actor: writeDraws Errorf*2
		`,
	},
}
