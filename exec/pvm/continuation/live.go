package continuation

import (
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// variable tells whether a name is one that is captured when it is live.
func (l *lowering) variable(id string) bool {
	return id != l.self && (l.isTemp[id] || l.locals.has(id))
}

// sure tells whether a name that is live surely has a value: the lowering's own
// do.
func (l *lowering) sure(id string) bool { return l.isTemp[id] || l.locals.sure(id) }

// nameSet is a set of variables by number, 64 to a word.
type nameSet []uint64

func (s nameSet) add(n int)    { s[n/64] |= 1 << (n % 64) }
func (s nameSet) remove(n int) { s[n/64] &^= 1 << (n % 64) }

// join adds what of other is not in except, which may be nil; it tells whether that
// changes s.
func (s nameSet) join(other, except nameSet) (changed bool) {
	// Bounded: by Limits.Variables and the temporary ones, 1,280: 20 words.
	for i, w := range other {
		if except != nil {
			w &^= except[i]
		}
		changed = changed || w&^s[i] != 0
		s[i] |= w
	}
	return changed
}

// flow is what liveness knows of a block: the variables that it may read before it binds
// them, those that it binds before it reads them, those live at its beginning, and the
// blocks that may come next.
type flow struct {
	reads, binds, live nameSet
	next               []*flow
	catch              *flow // nil: none
}

// Rounds over all blocks beyond the first few are paid for, a unit for so many words of sets
// that are joined, and a few words for each jump: handlers with loops within loops take a
// round for each.
const (
	freeRounds = 4
	jumpWords  = 4
	unitWords  = 256
)

// liveness finds for every block which variables may be read from its beginning
// on before they are bound. Its statements are gone through once. Only where an answer
// resumes are they named: all variables by name in all blocks are too long a list.
func (l *lowering) liveness() {
	names := l.variables()
	number := make(map[string]int, len(names)) // looked up, never iterated
	// Bounded: by Limits.Variables and the temporary ones, 1,280.
	for i, id := range names {
		number[id] = i
	}
	words := (len(names) + 63) / 64
	flows, byID := make([]*flow, len(l.blocks)), make(map[int]*flow, len(l.blocks))
	// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
	for i, b := range l.blocks {
		f := &flow{reads: make(nameSet, words), binds: make(nameSet, words), live: make(nameSet, words)}
		// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
		for _, s := range slices.Backward(b.stmts) {
			f.before(s, number)
		}
		flows[i], byID[b.id] = f, f
	}
	// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
	for i, b := range l.blocks {
		// Paid: by the jumps, each a statement and a unit of the charge (ADR 169).
		for _, id := range b.succ {
			flows[i].next = append(flows[i].next, byID[id])
		}
		if b.region != nil {
			flows[i].catch = byID[b.region.catch]
		}
		flows[i].live.join(flows[i].reads, nil)
	}
	jumps := 0
	// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
	for _, f := range flows {
		jumps += len(f.next)
		if f.catch != nil {
			jumps++
		}
	}
	// Paid: by the line below, but for the first few rounds, which blocks pay for. There are
	// as many as loops within each other and two: control goes on to later blocks but where
	// a loop begins again.
	for round, changed := 1, true; changed; round++ {
		if round > freeRounds {
			l.charge(1 + jumps*(words+jumpWords)/unitWords)
		}
		changed = false
		// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
		for _, f := range slices.Backward(flows) {
			changed = f.grow() || changed
		}
	}
	l.vars = names
	// Paid: by the blocks and their statements, units of the charge (ADR 148, 169).
	for i, b := range l.blocks {
		b.flow = flows[i]
	}
	// Bounded: by Limits.Awaits, 8.
	for _, a := range l.awaits {
		a.block.live = a.block.flow.names(names)
	}
}

// grow adds what is live after the block, or where its exceptions go.
func (f *flow) grow() (changed bool) {
	// Paid: by the jumps, each a statement and a unit of the charge (ADR 169).
	for _, next := range f.next {
		changed = f.live.join(next.live, f.binds) || changed
	}
	if f.catch != nil {
		changed = f.live.join(f.catch.live, nil) || changed
	}
	return changed
}

// names are the live ones of all, in order.
func (f *flow) names(all []string) []string {
	var live []string
	// Bounded: by Limits.Variables and the temporary ones, 1,280.
	for i, w := range f.live {
		// Bounded: by the bits of a word, 64.
		for ; w != 0; w &= w - 1 {
			live = append(live, all[64*i+bits.TrailingZeros64(w)])
		}
	}
	return live
}

// variables are all names that are captured when they are live, in order.
func (l *lowering) variables() []string {
	// Bounded: by Limits.Variables and the temporary ones, 1,280.
	all := slices.Clone(l.temps)
	// Bounded: by the two lists.
	for _, list := range [][]string{l.locals.params, l.locals.assigned} {
		// Bounded: by Limits.Variables and the temporary ones, 1,280.
		for _, id := range list {
			if l.variable(id) {
				all = append(all, id)
			}
		}
	}
	// Bounded: by Limits.Variables and the temporary ones, 1,280.
	slices.Sort(all)
	// Bounded: by Limits.Variables and the temporary ones, 1,280.
	return slices.Compact(all)
}

// before puts a statement before those that f knows. Only a plain assignment binds
// a name.
func (f *flow) before(s syntax.Stmt, number map[string]int) {
	if a, ok := s.(*syntax.Assign); ok {
		// Paid: by the tokens of the targets (ADR 59).
		for _, t := range a.Targets {
			if n, ok := t.(*syntax.Name); ok {
				if i, ok := number[n.ID]; ok {
					f.reads.remove(i)
					f.binds.add(i)
				}
			}
		}
	}
	uses(s, func(id string) {
		if i, ok := number[id]; ok {
			f.reads.add(i)
			f.binds.remove(i)
		}
	})
}

// chargeStored pays for storing and restoring variables: parts of a display and an
// assignment for one that surely has a value, statements of their own for any other.
func (l *lowering) chargeStored() {
	units := 0
	// Bounded: by Limits.Awaits, 8.
	for _, a := range l.awaits {
		// Bounded: by Limits.Variables and the temporary ones, 1,280.
		for _, v := range a.block.live {
			if l.sure(v) {
				units += 2
			} else {
				units += 8
			}
		}
	}
	l.charge(units)
}

// captures fills in, at every await, what is stored of the variables.
func (l *lowering) captures() {
	// Bounded: by Limits.Awaits, 8.
	for _, a := range l.awaits {
		// Bounded: by Limits.Variables and the temporary ones, 1,280.
		for _, v := range a.block.live {
			if what, ok := l.locals.code[v]; ok {
				refuse(a.at, "'%s' is %s and does not survive this await: nothing after it may use it", v, what)
			}
		}
		a.from.stmts[a.index] = l.suspension(a)
	}
}

// suspension is: if the awaited value is a job, store the variables, submit the
// job and return.
func (l *lowering) suspension(a *await) syntax.Stmt {
	at := a.at
	vars := &syntax.Dict{Pos: at}
	var unsure []syntax.Stmt
	// Paid: by chargeStored, at least 44 cycles each beyond what tokens pay (ADR 169).
	for _, v := range a.block.live {
		if l.sure(v) {
			vars.Keys = append(vars.Keys, text(at, v))
			vars.Values = append(vars.Values, name(at, v))
			continue
		}
		unsure = append(unsure, &syntax.Try{
			Pos: at,
			Body: []syntax.Stmt{&syntax.Assign{Pos: at, Value: name(at, v), Targets: []syntax.Expr{
				&syntax.Subscript{Pos: at, Value: name(at, stored), Slice: text(at, v), Ctx: syntax.Store},
			}}},
			Handlers: []*syntax.ExceptHandler{{
				Pos: at, Type: &syntax.Attribute{Pos: at, Value: name(at, sdkModule), Attr: "Unbound"},
				Body: []syntax.Stmt{&syntax.Pass{Pos: at}},
			}},
		})
	}
	body := append([]syntax.Stmt{assign(at, stored, vars)}, unsure...)
	body = append(body, &syntax.Return{Pos: at, Value: library(at, "suspend",
		text(at, l.name), number(at, a.label), name(at, stored), name(at, awaited))})
	return &syntax.If{Pos: at, Test: library(at, "pending", name(at, awaited)), Body: body}
}
