package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// An effect is what a part has the loop do for it: one of the types below. A part is a
// struct with state of its own. The loop hands it events, with the time where that
// matters, and it returns effects, in the order in which they are to be carried out,
// before the next event. It starts no goroutine, sends nothing and sets no timer, so
// that a test sees all it does. What it asks of others is in its fields; none of them
// is the engine.
type effect any

type (
	// broadcast sends a message to all.
	broadcast struct{ msg wire.Message }
	// send sends a message to one.
	send struct {
		to  beacon.Participant
		msg wire.Message
	}
	// sendEncoded sends a message that is encoded already, and may be on its way to others.
	sendEncoded struct {
		to  beacon.Participant
		msg []byte
	}
	// forgetVotes has the network drop the votes that it keeps for who cannot be reached.
	forgetVotes struct{}
	// sayVote lets one of our votes leave, which is durable.
	sayVote struct{ vote simplex.Vote }

	// ban ignores a peer for a while.
	ban struct{ who beacon.Participant }
	// step puts an event in line for the machine.
	step struct{ event simplex.Event }
	// redo carries an effect of the machine out, again or instead of it, after the next sync.
	redo struct{ effect simplex.Effect }
	// arrive takes a certificate that came inside another message.
	arrive struct{ arrival }
	// sighted notes the proposal of a view, from its leader if that is known.
	sighted struct {
		from     beacon.Participant
		proposal simplex.Proposal
		known    bool
	}

	// wake sets an alarm, in place of the time that it was set to.
	wake struct {
		alarm alarm
		after time.Duration
	}

	// fetch asks peers for what is missing.
	fetch struct{ what simplex.Fetch }
	// fetchLater does so for a view, unless it is here a fetch timeout from now.
	fetchLater struct{ view chain.View }
	// lied drops what a peer is being asked for.
	lied struct{ who beacon.Participant }
	// starved says that shards of a block did not come in time.
	starved struct{}
	// judge has a block looked at whose bytes are here.
	judge struct{ block *block }
	// verify has the application judge a block.
	verify struct {
		block *block
		req   VerifyRequest
		final bool // by Recover: a quorum found that its time had come
	}
	// report tells the machine the verdict on a block.
	report struct{ block *block }
)

// alarm is a timer of a part.
type alarm int

// The alarms.
const (
	alarmFetch alarm = iota // requests are looked at
	alarmWatch              // the next question about our key
	alarmBeat               // the next look at the clocks
	numAlarms
)

// do carries out the effects of a part.
func (e *Engine) do(ctx context.Context, effects []effect) {
	if len(effects) == 0 {
		return
	}
	now := time.Now()
	for _, effect := range effects {
		switch x := effect.(type) {
		case broadcast:
			e.net.Broadcast(wire.Append(nil, x.msg))
		case send:
			e.net.Send(x.to, wire.Append(nil, x.msg))
		case sendEncoded:
			e.net.Send(x.to, x.msg)
		case forgetVotes:
			if net, ok := e.net.(Forgetter); ok {
				net.ForgetVotes()
			}
		case sayVote:
			e.sayVote(ctx, x.vote)
		case ban:
			e.ban(x.who)
		case step:
			e.queueEvent(x.event)
		case redo:
			e.outgoing = append(e.outgoing, x.effect)
		case arrive:
			e.receiveCertificate(x.arrival)
		case sighted:
			e.sighted(x)
		case wake:
			e.alarms[x.alarm].Reset(x.after)
		case fetch:
			e.do(ctx, e.fetches.fetch(now, x.what))
		case fetchLater:
			e.do(ctx, e.fetches.later(now, x.view))
		case lied:
			e.do(ctx, e.fetches.lied(now, x.who))
		case starved:
			e.sharding.starved = true
		case judge:
			e.do(ctx, e.judging.verifyOnce(x.block))
		case verify:
			e.verify(ctx, x)
		case report:
			e.do(ctx, e.judging.reportVerdict(x.block))
		default:
			panic(fmt.Sprintf("engine: unknown effect %T", x))
		}
	}
}
