package siege

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// attack is one way to do harm.
type attack struct {
	name string
	what string // it tries, in a few words

	params func(*chain.Params)  // that the chain has for it; may be nil
	lanes  func(*lanes.Config)  // likewise
	setup  func(*siege)         // before the honest come; may be nil
	block  func(s *siege)       // in each block, before it is built
	check  func(s *siege) error // in the end; may be nil
	// transfers are the honest ones of a block; 0: transfersOfABlock.
	transfers int
	crowd     int // further accounts of the attacker
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
		turnedHandlers(),
		neverRun(), // B6
		manyNeverRun(),
		parkedFlood(),
		longLists(),     // B7
		deferredFlood(), // B8
		headOfLine(),
		squatters(),     // B11
		emptyFirings(),  // B14
		timerChurn(),    // W1
		drainedBucket(), // W2
		promisedTimers(),
		hotCode(),    // W3
		newEntries(), // B9, W4
		together("hogs-and-never-run", limitHogs(), neverRun()),
		together("lists-and-deferred", longLists(), deferredFlood()),
		together("fat-cold-and-hot", fatRecords(), coldPrograms(), hotCode()),
	}
	return list
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
	all.params = func(p *chain.Params) {
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
