package attacks

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewriteAttacks = flag.Bool("rewrite-attacks", false, "write the table of docs/attacks.md from what the attackers end up with")

// end is what an attacker has in the end, and who has lost by it.
type end struct{ attacker, victim string }

// attacks are those of the market that the chain as it is has to hold, in the order of the
// design. Challenges, secrets, enclaves and the deterministic mode are not built.
var attacks = []struct {
	name string
	play func(*testing.T) end
	held string
}{
	{"Lying minority of a committee", lyingMinority, "a verdict of a threshold of more than half; −1 a disagreement (resolution 12.7), and 50 to be a candidate"},
	{"Lying majority (as many as the threshold)", lyingMajority, "nothing but the threshold that the requester chooses: four of five gives the same three no verdict"},
	{"Noise where all must agree", noise, "where most of what counts is alike, the rest is paid nothing ([234](adr/0234-what-differs-from-most-is-paid-nothing.md))"},
	{"Lazy: commits to a guess, or copies a commitment", copiedCommitment, "a commitment is over a result and its runner's signature (11.1); withheld results cost 20 % (11.28)"},
	{"Copies a result from the pool", copiedReveal, "results are shown when no commitment can be made any more (11.27), and signed by who was drawn"},
	{"Silent", silent, "−5, no part in retries, 5 % at the third in a row (12.35); the other seats, and retries"},
	{"Commits, and shows its result only when it likes", withholds, "20 % of stake and of what unbonds, at the deadline of each attempt (11.28)"},
	{"Late result", late, "results that match are paid until the deadline and not behind it (11.28)"},
	{"Aggregator withholds, reorders, omits", aggregatorOmits, "everybody may show its own behind the aggregator's time (12.24); a median waits for all (12.34); the bonus is for what others gave it in its time ([221](adr/0221-judging-counts-what-was-used.md))"},
	{"Aggregator forges", aggregatorForges, "each result in a submission opens a commitment under its runner's signature: one that does not fails all (12.30)"},
	{"Requester asks for what cannot be done", unsatisfiable, "refusal at the submission where it shows; else the runner asks the chain's judge before it commits (12.43)"},
	{"Requester names a page that moves", movingPage, "no slash and no reputation is lost without an agreement (12.28)"},
	{"Requester aims jobs of one runner at a victim", aimed, "each is paid for; a seat beyond what a runner takes at a time costs nothing (12.11)"},
	{"Answers another actor's continuation", answersAnother, "an answer comes from 0x03 only to who asked; else its sender is who bought it (12.53)"},
	{"Requester cancels after the work", cancels, "a job is taken back while nobody is assigned, and no later (12.22)"},
	{"Requester and runner wash a reputation", washes, "fees and room in the lane for every point, a hundredth to the Treasury, a ceiling, decay (11.4)"},
	{"Sybil runners", sybil, "a stake of 10,000 CBY for each, one job at a time until ten are done (5.7), and an end of the list (12.2)"},
	{"Stake leaves before a fault is found", stakeLeaves, "what unbonds is slashed, too (12.47), and unbonds for as long as the longest window"},
	{"Seed ground by the submitter", seedOfSubmitter, "the hash of the block of the submission is not known when it is signed (11.9)"},
	{"Seed ground by the proposer", seedOfProposer, "`submission-beacon`, which the profile `mainnet-params` sets (12.83)"},
	{"Front-runs a draw with a registration", frontRuns, "candidates are those of the end of the block of the submission, in all attempts (12.10, 12.16)"},
	{"Overfills the passes of a block", overfillsPasses, "passes are bounded and in order; commitments and results are judged by the height of their transaction"},
	{"Overfills the state", overfillsState, "every row has cells, and goes with its job"},
	{"Fills the runner lane", fillsTheLane, "registered runners alone, with a share and a fee of its own (11.13), one heartbeat a block (12.9)"},
	{"Parameters change while a job runs", votesMidJob, "windows, attempts, rates and candidates stand in the rows of the job and its seats"},
}

// readers are attacks that were found by reading and are held by tests of their own, which
// play them where the whole of them can be seen.
var readers = []struct{ name, once, held, tests string }{
	{
		"One transaction drains its sender, and payments behind it fill the block", "256 were packed, one paid; four accounts emptied the user lane for 0.001 CBY",
		"[211](adr/0211-what-stands-behind-a-drain-waits.md)", "node/ledger TestDrainedSendersTakeNobodysRoom; lanes TestTheRiskyHaveARoomOfTheirOwn; lanes TestBehindARefusalNobodyIsSure",
	},
	{
		"Jobs that declare many steps fill the judge's queue", "one was judged in each block, everybody behind it waited", "[221](adr/0221-judging-counts-what-was-used.md)",
		"exec/market/results TestLargeCasesStopNobody; exec/market/results TestLooksAreShared; exec/market/results TestTriesAreBounded; exec/market/results TestWithoutRoomNothingIsJudged",
	},
	{
		"The requester's own verifier rejects what it has read", "work for nothing", "[221](adr/0221-judging-counts-what-was-used.md)",
		"exec/market/results TestRejectedCommittees; exec TestAnActorVerifies; exec TestVerifiersTakeWhatCanBePaid",
	},
	{
		"Whoever may gather shows what others have just shown", "1.5 % of each result for a copy", "[221](adr/0221-judging-counts-what-was-used.md)", "exec/market/results TestCopiesEarnNothing",
	},
	{
		"A job whose results do not fit the runner lane in its time", "the honest were slashed by a fifth for room that there was not", "[222](adr/0222-results-fit-the-runner-lane.md)",
		"exec/market TestAJobGivesTimeForItsResults",
	},
	{
		"Many jobs crowd the runner lane together", "the same", "[222](adr/0222-results-fit-the-runner-lane.md)", "exec/market TestACrowdedLaneCostsNobody",
	},
	{
		"A long job makes the chain keep old pages of standings", "more bytes than were paid for", "[222](adr/0222-results-fit-the-runner-lane.md)",
		"exec/market TestWhatIsKeptIsPaid; exec/market/runners TestOneJobKeepsAPageOnce; exec/market/runners TestLongJobKeepsItsPagesAlone",
	},
	{
		"Jobs make all nodes keep long results", "an answer named what had no room in it, and nobody could read it", "[236](adr/0236-what-an-answer-has-no-room-for-is-kept.md)",
		"exec TestKeepingIsPaid; exec TestLongResultsAreRead; exec/market/results TestWhatDoesNotFitIsKept; exec/market/jobs TestKeptRow",
	},
	{
		"A result that is hard to judge", "steps that nobody has paid for", "[218](adr/0218-results-are-judged-one-by-one-in-steps.md)", "exec/market/judge TestBombs; exec/market/judge TestSteps",
	},
}

const (
	attacksPage  = "../../../docs/attacks.md"
	attacksBegin = "<!-- attacks: begin -->\n"
	attacksEnd   = "<!-- attacks: end -->\n"
)

// TestAttacks plays them all, and holds docs/attacks.md to what came of them. Run it with
// -rewrite-attacks after a change of what attackers end up with.
func TestAttacks(t *testing.T) {
	rows := []string{"| attack | the attacker ends with | the victim | held by |\n|---|---|---|---|\n"}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			e := a.play(t)
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", a.name, e.attacker, e.victim, a.held))
			t.Log(rows[len(rows)-1])
		})
	}
	if t.Failed() || len(rows) != 1+len(attacks) {
		return // a test by name, or an attack that ended otherwise
	}
	rows = append(rows, "\n| attack | what it came to before | decision | tests |\n|---|---|---|---|\n")
	for _, a := range readers {
		tests := regexp.MustCompile(`([a-z/]+) (Test\w+)`).ReplaceAllString(a.tests, "`$1` `$2`")
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", a.name, a.once, a.held, tests))
	}
	want := strings.Join(rows, "")
	page, err := os.ReadFile(attacksPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(page, []byte(attacksBegin))
	table, after, closed := bytes.Cut(rest, []byte(attacksEnd))
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no table of attacks", attacksPage)
	case string(table) == want:
	case *rewriteAttacks:
		if err := os.WriteFile(attacksPage, slices.Concat(before, []byte(attacksBegin+want+attacksEnd), after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says something else: run go test ./exec/market/attacks -run TestAttacks -args -rewrite-attacks", attacksPage)
	}
}

// TestNamedTestsAreThere: the tests that the second table names are where it says.
func TestNamedTestsAreThere(t *testing.T) {
	for _, a := range readers {
		for _, named := range strings.Split(a.tests, "; ") {
			folder, name, ok := strings.Cut(named, " ")
			files, err := os.ReadDir("../../../" + folder)
			if !ok || err != nil {
				t.Fatalf("%q: %v", named, err)
			}
			if !slices.ContainsFunc(files, func(f os.DirEntry) bool {
				text, err := os.ReadFile("../../../" + folder + "/" + f.Name())
				return strings.HasSuffix(f.Name(), "_test.go") && err == nil && bytes.Contains(text, []byte("func "+name+"("))
			}) {
				t.Errorf("%s: there is no such test", named)
			}
		}
	}
}
