package simplex_test

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// alone draws the leaders of a chain of one validator.
type alone struct{}

func (alone) Leader(chain.Hash) beacon.Participant                 { return 0 }
func (alone) LeaderPast(chain.Hash, chain.Hash) beacon.Participant { return 0 }

// driver is the smallest that works: one validator, so that there is no network; a
// slice for a journal; and an application whose blocks are the hashes of their views.
// Its timers never run out, since a quorum of one does not wait.
type driver struct {
	machine *simplex.Machine
	scheme  hashed.Scheme
	tally   *simplex.Tally
	events  []simplex.Event  // that happened and were not applied yet
	gather  []simplex.Effect // since the last sync
	records []simplex.Record // written, and durable after sync
	final   []chain.View
}

// run applies what happened until three blocks are final.
func (d *driver) run() {
	for len(d.final) < 3 {
		// Apply everything that has happened. Effects that must wait for the disk
		// wait for one sync together.
		for len(d.events) > 0 {
			e := d.events[0]
			d.events = d.events[1:]
			d.gather = append(d.gather, d.machine.Step(e)...)
		}
		// 1. Write the records. 2. Do what binds to nothing. 3. Sync. 4. Do the rest.
		for _, x := range d.gather {
			if p, ok := x.(simplex.Persist); ok {
				d.records = append(d.records, p.Record)
			}
		}
		free, bound := simplex.Split(d.gather)
		d.gather = nil
		for _, x := range free {
			d.do(x)
		}
		// The journal is synced here.
		for _, x := range bound {
			d.do(x)
		}
		d.count()
	}
}

// do carries one effect out. Answers come back as events, at once here, whenever they
// are ready elsewhere.
func (d *driver) do(x simplex.Effect) {
	switch x := x.(type) {
	case simplex.RequestProposal:
		d.happened(simplex.ProposalReady{View: x.Round.View, Payload: chain.Hash{byte(x.Round.View)}})
	case simplex.RequestVerify:
		d.happened(simplex.Verified{View: x.Proposal.Round.View, Payload: x.Proposal.Payload, OK: true})
	case simplex.RequestCertify:
		d.happened(simplex.Certified{View: x.Proposal.Round.View, Payload: x.Proposal.Payload, OK: true})
	case simplex.Broadcast:
		d.tally.AddOwn(x.Vote) // and to the others, if there were any
	case simplex.Finalized:
		for _, c := range x.Chain {
			d.final = append(d.final, c.Proposal.Round.View)
		}
	case simplex.Halt:
		panic(x.Err)
	}
}

func (d *driver) happened(e simplex.Event) { d.events = append(d.events, e) }

// count makes certificates of the votes that are there.
func (d *driver) count() {
	for d.tally.Due() {
		n, err := d.tally.CountNext(simplex.JudgeBy(d.scheme, simplex.InTurn))
		if err != nil {
			panic(err)
		}
		if n.Made {
			d.happened(simplex.CertificateReceived{Certificate: n.Certificate})
		}
	}
}

// A driver replays its journal, resumes the machine, and then applies events and
// carries out effects, in their order and with one sync between those that bind and
// those that do not.
func Example() {
	scheme := hashed.Scheme{Self: 0, Quorum: 1}
	machine := simplex.New(simplex.Config{Signer: scheme, Elector: alone{}})
	d := &driver{machine: machine, scheme: scheme, tally: simplex.NewTally(1, machine.TakesVotes)}
	for _, r := range d.records { // of the life before; there was none
		d.happened(simplex.Replayed{Record: r})
	}
	d.happened(simplex.Resumed{})
	d.run()
	fmt.Println("final views:", d.final[:3])
	fmt.Println("first record:", d.records[0].(simplex.Vote).Kind, "in view", d.records[0].(simplex.Vote).Proposal.Round.View)
	// Output:
	// final views: [1 2 3]
	// first record: notarize in view 1
}
