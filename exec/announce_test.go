package exec

import (
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// TestAnnouncementsStayInTheirBound fills a block with all that the protocol may
// announce: the receipts take no more than the bound of a stored block counts.
func TestAnnouncementsStayInTheirBound(t *testing.T) {
	for _, candidates := range []uint64{1, 512, 1 << 16} {
		p := params.Default()
		p.Timer.CandidatesPerBlock = candidates
		b := &block{in: &Inputs{Params: &p, Height: math.MaxUint64}}
		largest := chain.Event{Name: eventTimerUnfunded, Data: make([]byte, params.AnnouncedEventBytes-len(eventTimerUnfunded))}
		for range p.AnnouncedMax() {
			b.announce([]chain.Event{largest})
		}
		b.writeEvents()
		stored, events := uint64(0), uint64(0)
		for i := range b.result.Receipts {
			r := &b.result.Receipts[i]
			stored += uint64(len(r.TxHash) + len(r.Encode()))
			events += uint64(len(r.Events))
		}
		if most := p.AnnouncedBytesMax(); stored > most || stored < most*9/10 || events != p.AnnouncedMax() {
			t.Errorf("%d candidates: %d events in %d receipts take %d bytes, the bound is %d", candidates, events, len(b.result.Receipts), stored, most)
		}
	}
}

func TestAnnouncedEventsAreSmall(t *testing.T) {
	ended := cbor.AppendText(cbor.AppendArray(nil, 1), strings.Repeat("e", 64)) // the longest name that parameters take
	for name, data := range map[string][]byte{
		actor.EventNonExecutable: ended,
		eventTimerUnfunded:       make([]byte, len(chain.Hash{})+len(chain.Address{})),
		eventIntervalEnded:       make([]byte, len(chain.Hash{})+len(chain.Address{})),
	} {
		if n := len(name) + len(data); n > params.AnnouncedEventBytes {
			t.Errorf("%s takes %d bytes", name, n)
		}
	}
}
