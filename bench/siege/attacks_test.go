package siege

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// attack is one way to do harm.
type attack struct {
	name string
	what string // it tries, in a few words

	params func(*params.Params) // that the chain has for it; may be nil
	lanes  func(*lanes.Config)  // likewise
	setup  func(*siege)         // before the honest come; may be nil
	block  func(s *siege)       // in each block, before it is built
	check  func(s *siege) error // in the end; may be nil
	// transfers are the honest ones of a block; 0: transfersOfABlock.
	transfers int
	crowd     int  // further accounts of the attacker
	first     bool // it takes what is free before the honest come

	long bool // it comes in the long form alone, or if it is named

	makers   int // nodes that propose in turns; 0: one
	restarts int // after so many blocks the first of them loses what it had in memory; 0: never

	// wave is for how many blocks the attack lasts until the base fee has come to what
	// somebody does not pay, or until it has spent what it had prepared; 0: for ever. In the
	// long form it comes again, once the base fee rests.
	wave  int
	again func(*siege) // before it does; may be nil
}

// transfersOfABlock are honest, four fifths of the user lane's target in cycles.
const transfersOfABlock = 180

// attacks is the table. Issue 14 and its page say what B and W numbers stand for.
func attacks() []attack {
	list := []attack{
		quiet(),
		forgedBlobs(),  // B1
		coldPrograms(), // B2
		fatRecords(),   // B3
		spawnFlood(),   // B4, B13
		limitHogs(),    // B5
		modestHogs(),
		timerHogs(),
		wideCrowd(),
		becomingActors(),
		drainedCrowd(),
		turnedHandlers(),
		looksLarge(),
		unknownCrowd(),
		neverRun(), // B6
		manyNeverRun(),
		unknownDeployers(),
		taughtDeployers(),
		wideLane(),
		wrongLane(),
		heldActors(),
		largeBodies(),
		evictingBodies(),
		parkedFlood(),
		longLists(),     // B7
		deferredFlood(), // B8
		headOfLine(),
		savedUp(),
		squatters(),     // B11
		greedyClients(), // B12
		emptyFirings(),  // B14
		timerChurn(),    // W1
		drainedBucket(), // W2
		promisedTimers(),
		reservedBuckets(),
		hotCode(),         // W3
		newEntries(),      // B9, W4
		strangersGrants(), // W5
		together("hogs-and-never-run", limitHogs(), neverRun()),
		together("lists-and-deferred", longLists(), deferredFlood()),
		together("fat-cold-and-hot", fatRecords(), coldPrograms(), hotCode()),
	}
	for _, a := range []attack{drainedCrowd(), turnedHandlers(), manyNeverRun(), unknownDeployers()} {
		turns := inTurns(a)
		// Each of these two runs on one maker in the short form, and what is learned of
		// handlers and lost in a crash, the drained crowd shows in turns.
		turns.long = a.name == turnedHandlers().name || a.name == manyNeverRun().name
		list = append(list, turns)
	}
	return list
}

// elsewhere are the numbers that no attack of the table stands for, and why.
var elsewhere = map[string]string{
	"B10": "a checkpoint is no matter of blocks: state/checkpoint cuts an account beyond its memory",
	"B13": "the spawn flood brings sources of its own",
	"B15": "parameters that nobody reads: TestParametersAreRead",
	"W4":  "the new entries are those of tokens and accounts as well",
}

// TestEveryAttackHasARow: B1 to B15 and W1 to W5 are in the table, or it says where.
func TestEveryAttackHasARow(t *testing.T) {
	for _, kind := range []struct {
		letter string
		most   int
	}{{"B", 15}, {"W", 5}} {
		for n := 1; n <= kind.most; n++ {
			id := fmt.Sprint(kind.letter, n)
			row := slices.ContainsFunc(attacks(), func(a attack) bool { return strings.HasPrefix(a.name, id+"-") })
			if _, there := elsewhere[id]; row == there {
				t.Errorf("%s: in the table %v, elsewhere %v", id, row, there)
			}
		}
	}
}

// TestTheHonestCanPay: honest people who take more than the target by themselves raise the
// base fee in every block, whoever attacks. They must stop before they price themselves out:
// else a long siege says of the attack what they have done.
func TestTheHonestCanPay(t *testing.T) {
	const messages = 750_000 // cycles of the neighbours and the clock in a block, and some more
	p := params.Default()
	target := fees.LaneTarget(&p, chain.LaneUser).Cycles
	rule := fees.Rule{Alpha: p.BaseFeeAlpha, DeltaBasisPoints: p.BaseFeeDeltaBasisPoints, Floor: p.MinBaseFee}
	for _, a := range attacks() {
		transfers := max(a.transfers, transfersOfABlock)
		use := chain.Cycles(transfers)*p.Intrinsic.TransferCycles + messages
		fee, dear := chain.Wei(calmFee), 0
		for range 1_000 {
			if fee = rule.NextFee(fee, uint64(use), uint64(target)); fee > deferredCap {
				break
			}
			dear++
		}
		if a.wave == 0 && dear < 1_000 || a.wave > dear {
			t.Errorf("%s: %d honest transfers a block, for %d blocks without a rest: after %d the base fee is above what they pay", a.name, transfers, a.wave, dear)
		}
	}
}

// together are several attacks at the same time.
func together(name string, list ...attack) attack {
	all := attack{name: name, what: "at the same time:"}
	for _, a := range list {
		all.what += " " + a.name
	}
	for _, a := range list {
		all.crowd = max(all.crowd, a.crowd)
	}
	all.params = func(p *params.Params) {
		for _, a := range list {
			if a.params != nil {
				a.params(p)
			}
		}
	}
	all.lanes = func(c *lanes.Config) {
		for _, a := range list {
			if a.lanes != nil {
				a.lanes(c)
			}
		}
	}
	all.setup = func(s *siege) {
		for _, a := range list {
			if a.setup != nil {
				a.setup(s)
			}
		}
	}
	all.block = func(s *siege) {
		for _, a := range list {
			a.block(s)
		}
	}
	return all
}

// quiet is no attack: what the others are held against.
func quiet() attack {
	return attack{name: "quiet", what: "nothing", block: func(*siege) {}}
}
