package lanes

// strays are transactions that a pick met whose sender has no seat at the job that they
// name: it was pruned since they came. No block takes one, and none would pay for the room
// that the block kept for it, so they leave the pool (docs/adr/0230).
type strays struct {
	found []*entry
	early int   // whose seats the parent does not have, but a later block may
	err   error // of reading
}

// straysPart: of reads that find no seat, so many times as many are made in a pick as misses
// end a lane. They are no misses, as a stray is met once and has left the pool by the next pick.
const straysPart = 16

// hasSeat reads whether the sender of e was drawn for its job. What ran on this parent was.
func (k *picker) hasSeat(e *entry) bool {
	if !e.seated || e.seat == k.pick || k.req.seat == nil || k.ran(e) {
		return true
	}
	if k.strays.err != nil || (len(k.strays.found)+k.strays.early)/straysPart >= k.all.cfg.PackMisses {
		return false
	}
	is, err := k.req.seat(e.tx)
	switch {
	case err != nil:
		k.strays.err = err
	case is:
		e.seat = k.pick
	case k.req.Height > k.all.basis.Height: // on an older parent it may not have been drawn yet
		k.strays.found = append(k.strays.found, e)
	default:
		k.strays.early++
	}
	return is
}

// dropStrays takes them out, at the end of a pick and before the next begins. All shards are
// held.
func (k *picker) dropStrays() {
	for _, e := range k.strays.found {
		h := k.all.shardOf(e.tx.Sender)
		if h.byHash[e.tx.Hash] != e {
			continue // met twice
		}
		h.remove(e)
		h.counts.discarded.Add(1)
	}
}
