package compile

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// label is a place that jumps go to, before and after it is placed.
type label struct {
	placed  bool
	reached bool
	at      int
	refs    []int  // words to patch
	state   bitset // locals sure on every way to it
}

// meet notes that a jump from here goes to l.
func (f *unit) meet(l *label, word int) {
	if f.dead {
		return
	}
	if l.placed {
		f.patch(word, l.at)
		return
	}
	l.refs = append(l.refs, word)
	f.join(l)
}

// join notes that this place continues at l.
func (f *unit) join(l *label) {
	if f.dead {
		return
	}
	if l.reached {
		l.state.and(f.assigned)
		return
	}
	l.reached, l.state = true, f.assigned.clone()
}

func (f *unit) patch(word, at int) {
	f.obj.Instrs[word] = f.obj.Instrs[word].WithWide(uint32(at))
}

// place makes the next instruction the one that l names.
func (f *unit) place(l *label) {
	f.dropJump(l)
	f.join(l)
	l.placed, l.at = true, len(f.obj.Instrs)
	f.barrier = l.at
	// Paid: by the jumps, instructions each, patched once (ADR 59).
	for _, word := range l.refs {
		f.patch(word, l.at)
	}
	l.refs = nil
	if l.reached {
		f.dead = false
		f.assigned = l.state.clone()
	}
}

// dropJump removes a jump to l that stands right before it.
func (f *unit) dropJump(l *label) {
	last := len(f.obj.Instrs) - 1
	n := len(l.refs)
	if last < f.barrier || n == 0 || l.refs[n-1] != last || f.obj.Instrs[last].Op != code.Jump || !f.dead {
		return
	}
	if last > 0 && f.obj.Instrs[last-1].Op.HasJump() {
		return // the second word of the instruction before
	}
	f.obj.Instrs = f.obj.Instrs[:last]
	f.obj.Lines = f.obj.Lines[:last]
	f.c.instructions--
	l.refs = l.refs[:n-1]
}

// placeBack places a label that only later jumps reach, when something reaches
// this place.
func (f *unit) placeBack(l *label, reachable bool, state bitset) {
	l.placed, l.at = true, len(f.obj.Instrs)
	f.barrier = l.at
	f.dead = !reachable
	f.assigned = state.clone()
}

// jump continues at l.
func (f *unit) jump(l *label) {
	f.meet(l, f.emitWide(code.Jump, 0, 0))
	f.dead = true
}

// branch emits a conditional jump of one word.
func (f *unit) branch(op code.Op, a int, l *label) {
	f.meet(l, f.emitWide(op, a, 0))
}

// branchOn jumps if the truth of register r is cond.
func (f *unit) branchOn(r int, cond bool, l *label) {
	op := code.JumpIfNot
	if cond {
		op = code.JumpIf
	}
	f.branch(op, r, l)
}

// branch2 emits an instruction with a jump as its second word.
func (f *unit) branch2(op code.Op, a, b, c int, l *label) {
	f.emit(op, a, b, c)
	f.meet(l, f.emitWide(code.Jump, 0, 0))
}

// row is a row of the exception table that is open, and what is sure where it
// begins.
type row struct {
	i     int
	state bitset
	dead  bool
}

// openRow begins the range whose exceptions land in register reg.
func (f *unit) openRow(reg int) row {
	f.c.handlers++
	limit(posAt(f.line), f.c.handlers, f.c.lim.Handlers, "exception handlers")
	at := uint32(len(f.obj.Instrs))
	f.barrier = len(f.obj.Instrs)
	f.obj.Handlers = append(f.obj.Handlers, code.Handler{Start: at, End: at, Reg: uint16(reg)})
	return row{i: len(f.obj.Handlers) - 1, state: f.assigned.clone(), dead: f.dead}
}

// closeRow ends the range.
func (f *unit) closeRow(r row) {
	f.barrier = len(f.obj.Instrs)
	f.obj.Handlers[r.i].End = uint32(len(f.obj.Instrs))
}

// land begins the code that handles the exceptions of a row.
func (f *unit) land(r row) {
	h := &f.obj.Handlers[r.i]
	h.Target = uint32(len(f.obj.Instrs))
	f.barrier = len(f.obj.Instrs)
	f.dead = h.Start == h.End
	f.assigned = r.state.clone()
}
