package vm

// The interpreter: interp.go is the loop, with the instructions that programs spend
// their time in; those that need more than a few lines stand in interp_*.go by what they
// do. An inline cache or a fused instruction changes time alone, never a result or a
// charge.

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

func setInt(dst *Value, n int64) {
	if dst.ref != &intTag {
		dst.ref = &intTag
	}
	dst.bits = uint64(n)
}

func setFloat(dst *Value, bits uint64) {
	if dst.ref != &floatTag {
		dst.ref = &floatTag
	}
	dst.bits = bits
}

func setBool(dst *Value, b bool) {
	if dst.ref != &boolTag {
		dst.ref = &boolTag
	}
	dst.bits = 0
	if b {
		dst.bits = 1
	}
}

// run executes frame f, the running one, until it returns or suspends, with all
// that it calls. pending is an exception that f begins with. The frame was
// entered by a native.
func (m *Machine) run(f *frame, pending error) (Value, error) {
	err := pending
	mark := len(m.temp)
	// Paid: by the instructions of loop, and by the exception that takes it around again.
	for {
		if err != nil {
			if f, err = m.unwind(err); f == nil {
				return unbound, err
			}
			m.releaseOnReturn(mark) // what natives that failed still held
		}
		var v Value
		if v, err = m.loop(f); err == nil {
			if m.profile != nil {
				m.profile.chargeLine(m)
			}
			return v, nil
		}
	}
}

// loop executes instructions until the frame that a native entered returns or
// suspends, or an instruction raises. It is one function with one dense switch,
// which the compiler turns into a jump table; what is not worth a fast path is
// in functions of its own.
func (m *Machine) loop(f *frame) (Value, error) {
	var (
		err    error
		regs   []Value
		pc     int
		u      *unit
		instrs []code.Instr
		costs  = &m.rt.costs.Ops
		ok     bool
		nf     *frame
		v      Value
	)
enter:
	regs, pc, u = f.regs, f.pc, f.unit
	instrs = u.obj.Instrs
	// Paid: by the price of each instruction.
	for {
		in := instrs[pc]
		pc++
		if m.cycles -= costs[in.Op]; m.cycles < 0 {
			m.cycles += costs[in.Op]
			f.pc = pc
			m.boundary(costs[in.Op])
		}
		switch in.Op {
		case code.Nop:
		case code.Move:
			regs[in.A] = regs[in.B]
		case code.LoadK:
			regs[in.A] = u.consts[in.Wide()]
		case code.Clear:
			regs[in.A] = unbound
		case code.Check:
			if regs[in.A].ref == nil {
				err = m.unboundLocal(u.obj.Locals[in.A])
				goto fail
			}
		case code.MakeCell:
			regs[in.A] = m.newCell(regs[in.A])
		case code.GetCell:
			if v = regs[in.B].ref.self.(*Cell).v; v.ref == nil {
				err = m.unboundLocal(u.obj.Names[in.C])
				goto fail
			}
			regs[in.A] = v
		case code.SetCell:
			m.touch(regs[in.A].ref)
			regs[in.A].ref.self.(*Cell).v = regs[in.B]
		case code.DelCell:
			c := regs[in.A].ref.self.(*Cell)
			if c.v.ref == nil {
				err = m.unboundLocal(u.obj.Names[in.B])
				goto fail
			}
			m.touch(&c.Object)
			c.v = unbound
		case code.GetFree:
			if v = f.fn.closure[in.B].v; v.ref == nil {
				err = m.unboundFree(u.obj.Free[in.B])
				goto fail
			}
			regs[in.A] = v
		case code.SetFree:
			m.touch(&f.fn.closure[in.A].Object)
			f.fn.closure[in.A].v = regs[in.B]
		case code.DelFree:
			if f.fn.closure[in.A].v.ref == nil {
				err = m.unboundFree(u.obj.Free[in.A])
				goto fail
			}
			m.touch(&f.fn.closure[in.A].Object)
			f.fn.closure[in.A].v = unbound
		case code.FreeRef:
			regs[in.A] = f.fn.closure[in.B].value()
		case code.GetFreeIn:
			if v, err = m.freeInClass(f, int(in.B)); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.GetGlobal:
			h := &u.globals[in.Wide()]
			if g := f.fn.globals; h.dict != g || h.version != g.table.version {
				if v, ok = m.globalAt(g, u, int(in.Wide())); !ok {
					err = m.nameError(u.names[in.Wide()])
					goto fail
				}
				regs[in.A] = v
			} else if h.pos >= 0 {
				regs[in.A] = g.table.entries[h.pos].value
			} else {
				regs[in.A] = h.v
			}
		case code.SetGlobal:
			m.setGlobal(f.fn.globals, u, int(in.Wide()), regs[in.A])
		case code.DelGlobal:
			if err = m.deleteGlobal(f, u.names[in.Wide()]); err != nil {
				goto fail
			}
		case code.GetName:
			if v, err = m.getName(f, u.names[in.Wide()]); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.SetName:
			if err = m.setName(f, u.names[in.Wide()], regs[in.A]); err != nil {
				goto fail
			}
		case code.DelName:
			if err = m.deleteName(f, u.names[in.Wide()]); err != nil {
				goto fail
			}

		case code.GetAttr:
			if v, ok = u.cachedAttr(pc, &regs[in.B]); !ok {
				if v, err = m.getAttrAt(u, pc, regs[in.B], u.names[in.C]); err != nil {
					goto fail
				}
			}
			regs[in.A] = v
		case code.SetAttr:
			if !m.cachedSet(u, pc, &regs[in.A], regs[in.C]) {
				if err = m.setAttrAt(u, pc, regs[in.A], u.names[in.B], regs[in.C]); err != nil {
					goto fail
				}
			}
		case code.DelAttr:
			if err = m.SetAttr(regs[in.A], u.names[in.Wide()], unbound); err != nil {
				goto fail
			}
		case code.GetMethod:
			if v, ok = u.cachedMethod(pc, &regs[in.B]); ok {
				regs[in.A+1] = regs[in.B]
				regs[in.A] = v
			} else if regs[in.A], regs[in.A+1], err = m.getMethodAt(u, pc, regs[in.B], u.names[in.C]); err != nil {
				goto fail
			}
		case code.GetItem:
			if v, ok = fastItem(&regs[in.B], &regs[in.C]); !ok {
				if v, err = m.GetItem(regs[in.B], regs[in.C]); err != nil {
					goto fail
				}
			}
			regs[in.A] = v
		case code.SetItem:
			if o := regs[in.A].ref; o.kind == KindList && o.class == nil && regs[in.B].ref == &intTag {
				items := o.self.(*List).items
				if i := regs[in.B].bits; i < uint64(len(items)) {
					items[i] = regs[in.C]
					continue
				}
			}
			if err = m.SetItem(regs[in.A], regs[in.B], regs[in.C]); err != nil {
				goto fail
			}
		case code.DelItem:
			if err = m.DelItem(regs[in.A], regs[in.B]); err != nil {
				goto fail
			}
		case code.BuildSlice:
			regs[in.A] = m.newSlice(regs[in.B], regs[in.B+1], regs[in.B+2])

		case code.Add, code.IAdd:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag {
				s := int64(x.bits) + int64(y.bits)
				if (int64(x.bits)^s)&(int64(y.bits)^s) >= 0 {
					setInt(&regs[in.A], s)
					continue
				}
			} else if x.ref == &floatTag && y.ref == &floatTag {
				setFloat(&regs[in.A], softfloat.Add(x.bits, y.bits))
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Sub, code.ISub:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag {
				s := int64(x.bits) - int64(y.bits)
				if (int64(x.bits)^int64(y.bits))&(int64(x.bits)^s) >= 0 {
					setInt(&regs[in.A], s)
					continue
				}
			} else if x.ref == &floatTag && y.ref == &floatTag {
				setFloat(&regs[in.A], softfloat.Sub(x.bits, y.bits))
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Mul, code.IMul:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag {
				if p, exact := mulInt(int64(x.bits), int64(y.bits)); exact {
					setInt(&regs[in.A], p)
					continue
				}
			} else if x.ref == &floatTag && y.ref == &floatTag {
				setFloat(&regs[in.A], softfloat.Mul(x.bits, y.bits))
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.FloorDiv, code.IFloorDiv:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag && int64(y.bits) > 0 {
				q, r := int64(x.bits)/int64(y.bits), int64(x.bits)%int64(y.bits)
				if r < 0 {
					q--
				}
				setInt(&regs[in.A], q)
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Mod, code.IMod:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag && int64(y.bits) > 0 {
				r := int64(x.bits) % int64(y.bits)
				if r < 0 {
					r += int64(y.bits)
				}
				setInt(&regs[in.A], r)
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.BitAnd, code.IBitAnd, code.BitOr, code.IBitOr, code.BitXor, code.IBitXor:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag {
				setInt(&regs[in.A], bitInt(in.Op, int64(x.bits), int64(y.bits)))
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.RShift, code.IRShift:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag && int64(y.bits) >= 0 {
				setInt(&regs[in.A], int64(x.bits)>>min(y.bits, 63))
				continue
			}
			if v, err = m.arith(in.Op, *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.MatMul, code.Div, code.Pow, code.LShift, code.IMatMul, code.IDiv, code.IPow, code.ILShift:
			if v, err = m.arith(in.Op, regs[in.B], regs[in.C]); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.AddI:
			x := &regs[in.B]
			if x.ref == &intTag {
				n := int64(int16(in.C))
				s := int64(x.bits) + n
				if (int64(x.bits)^s)&(n^s) >= 0 {
					setInt(&regs[in.A], s)
					continue
				}
			}
			if v, err = m.addSmall(*x, int64(int16(in.C))); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Neg, code.Pos, code.Inv:
			if v, err = m.Unary(in.Op, regs[in.B]); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Not:
			if ok, err = m.truth(&regs[in.B]); err != nil {
				goto fail
			}
			setBool(&regs[in.A], !ok)

		case code.Eq, code.Ne, code.Lt, code.Le, code.Gt, code.Ge:
			x, y := &regs[in.B], &regs[in.C]
			if x.ref == &intTag && y.ref == &intTag {
				setBool(&regs[in.A], compareInt(in.Op-code.Eq, int64(x.bits), int64(y.bits)))
				continue
			}
			if v, err = m.Compare(CompareOp(in.Op-code.Eq), *x, *y); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.Is, code.IsNot:
			if ok, err = m.Identical(regs[in.B], regs[in.C]); err != nil {
				goto fail
			}
			setBool(&regs[in.A], ok == (in.Op == code.Is))
		case code.In, code.NotIn:
			if ok, err = m.Contains(regs[in.C], regs[in.B]); err != nil {
				goto fail
			}
			setBool(&regs[in.A], ok == (in.Op == code.In))

		case code.Jump:
			pc = int(in.Wide())
		case code.JumpIf:
			if ok, err = m.truth(&regs[in.A]); err != nil {
				goto fail
			}
			if ok {
				pc = int(in.Wide())
			}
		case code.JumpIfNot:
			if ok, err = m.truth(&regs[in.A]); err != nil {
				goto fail
			}
			if !ok {
				pc = int(in.Wide())
			}
		case code.JumpIfNone:
			if regs[in.A].ref == &noneTag {
				pc = int(in.Wide())
			}
		case code.LtJump:
			x, y := &regs[in.A], &regs[in.B]
			if x.ref == &intTag && y.ref == &intTag {
				ok = int64(x.bits) < int64(y.bits)
			} else if ok, err = m.compareJump(CompareLt, x, y); err != nil {
				goto fail
			}
			if ok == (in.C == 1) {
				pc = int(instrs[pc].Wide())
			} else {
				pc++
			}
		case code.EqJump, code.NeJump, code.LeJump, code.GtJump, code.GeJump:
			x, y := &regs[in.A], &regs[in.B]
			if x.ref == &intTag && y.ref == &intTag {
				ok = compareInt(in.Op-code.EqJump, int64(x.bits), int64(y.bits))
			} else if ok, err = m.compareJump(CompareOp(in.Op-code.EqJump), x, y); err != nil {
				goto fail
			}
			if ok == (in.C == 1) {
				pc = int(instrs[pc].Wide())
			} else {
				pc++
			}

		case code.GetIter:
			if v, err = m.iterate(regs[in.B]); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.ForIter:
			switch it := regs[in.A].ref.self.(type) {
			case *Iterator:
				if it.how == iterRange && it.end > 0 {
					setInt(&regs[in.B], it.at)
					it.end--
					it.at += it.step
					pc++
					continue
				}
				if it.class != nil { // its __next__ may be of the program
					v, ok, err = m.Next(regs[in.A])
					break
				}
				v, ok, err = m.iterNext(it)
			case *Generator:
				if it.state == genDone && it.isGenerator() {
					pc = int(instrs[pc].Wide())
					continue
				}
				if it.isGenerator() {
					f.pc = pc
					if nf, err = m.resume(it, None, byFor); err != nil {
						goto fail
					}
					nf.ret = int(in.B)
					f = nf
					goto enter
				}
				v, ok, err = m.Next(regs[in.A])
			default:
				if fn, isFn := m.nextOf(regs[in.A]); isFn {
					f.pc = pc
					if nf, v, err = m.beginNext(fn, regs[in.A:in.A+1], int(in.B)); err != nil {
						goto fail
					}
					if nf != nil {
						f = nf
						goto enter
					}
					ok = true
					break
				}
				v, ok, err = m.Next(regs[in.A])
			}
			if err != nil {
				goto fail
			}
			if ok {
				regs[in.B] = v
				pc++
			} else {
				pc = int(instrs[pc].Wide())
			}
		case code.GetAIter:
			if v, err = m.asyncIter(regs[in.B]); err != nil {
				goto fail
			}
			regs[in.A] = v
		case code.GetANext:
			if v, err = m.asyncNext(regs[in.B]); err != nil {
				goto fail
			}
			regs[in.A] = v

		case code.Yield:
			f.pc = pc
			f.gen.sendTo, f.gen.yielded = int(in.A), true
			if f, v = m.yield(f, regs[in.B]); f == nil {
				return v, nil
			}
			goto enter
		case code.YieldFrom, code.Await:
			f.pc = pc
			if f, v, err = m.delegate(f, in); err != nil {
				f = m.frame
				pc = f.pc
				goto fail
			}
			if f == nil {
				return v, nil
			}
			goto enter

		case code.Call:
			if in.C == 0 {
				if fn, isFn := regs[in.A].ref.self.(*Function); isFn {
					n, at := int(in.B), int(in.A)+2
					if regs[in.A+1].ref != nil {
						n++
						at--
					}
					end := at + fn.unit.obj.Registers
					if fn.plain == n && end <= cap(regs) && m.depth < m.rt.limits.RecursionDepth {
						f.pc = pc
						f = m.enterPlain(f, fn, at, end, n)
						f.ret = int(in.A)
						goto enter
					}
				}
			}
			f.pc = pc
			if nf, err = m.beginCall(f, in); err != nil {
				goto fail
			}
			if nf != nil {
				f = nf
				m.enterFrame(f)
				goto enter
			}
		case code.CallEx:
			f.pc = pc
			if nf, err = m.beginCallEx(f, int(in.A)); err != nil {
				goto fail
			}
			if nf != nil {
				f = nf
				m.enterFrame(f)
				goto enter
			}
		case code.Return:
			v = regs[in.A]
			if f.how == byCall && f.gen == nil {
				ret := f.ret
				m.popFrame(f)
				f = m.frame
				f.regs[ret] = v
				goto enter
			}
			f.pc = pc
			if f, v, err = m.returnSlow(f, v); err != nil {
				f = m.frame
				pc = f.pc
				goto fail
			}
			if f == nil {
				return v, nil
			}
			goto enter

		case code.ListAppend:
			regs[in.A].ref.self.(*List).append(m, regs[in.B])
		default:
			if in.Op >= code.BuildTuple && in.Op <= code.SetAnnotations {
				err = m.buildDisplay(f, in)
			} else {
				err = m.control(f, in)
			}
			if err != nil {
				goto fail
			}
		}
	}
fail:
	f.pc = pc
	return unbound, err
}
