package code

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrInvalid is wrapped by every error of [Verify].
var ErrInvalid = errors.New("invalid code object")

// Verify checks an object and those inside it: that operands are in range, jumps
// go to instructions, control never runs past the end, the exception table is ordered,
// and text is UTF-8: it becomes strings, which state records hold. The machine relies on it and checks none of it again.
func Verify(o *Object) error {
	v := verifier{o: o}
	if err := v.header(); err != nil {
		return fmt.Errorf("%w %q: %w", ErrInvalid, o.QualName, err)
	}
	if err := v.texts(); err != nil {
		return fmt.Errorf("%w %q: %w", ErrInvalid, o.QualName, err)
	}
	if err := v.instructions(); err != nil {
		return fmt.Errorf("%w %q: %w", ErrInvalid, o.QualName, err)
	}
	if err := v.handlers(); err != nil {
		return fmt.Errorf("%w %q: %w", ErrInvalid, o.QualName, err)
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, c := range o.Codes {
		if err := Verify(c); err != nil {
			return err
		}
	}
	return nil
}

type verifier struct {
	o     *Object
	inner []bool // second words of instructions
}

func (v *verifier) header() error {
	o := v.o
	params := o.Args + o.KwOnly
	if o.Flags&VarArgs != 0 {
		params++
	}
	if o.Flags&VarKeywords != 0 {
		params++
	}
	switch {
	case len(o.Instrs) == 0:
		return errors.New("no instructions")
	case len(o.Lines) != len(o.Instrs):
		return fmt.Errorf("%d lines for %d instructions", len(o.Lines), len(o.Instrs))
	case o.PosOnly < 0 || o.PosOnly > o.Args || o.KwOnly < 0 || params > len(o.Locals):
		return fmt.Errorf("%d parameters, %d positional-only, for %d locals", params, o.PosOnly, len(o.Locals))
	case len(o.Locals) > o.Registers || o.Registers > 1<<15:
		return fmt.Errorf("%d registers for %d locals", o.Registers, len(o.Locals))
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for _, r := range o.Cells {
		if int(r) >= len(o.Locals) {
			return fmt.Errorf("cell in register %d of %d locals", r, len(o.Locals))
		}
	}
	return nil
}

// errText means text that is not UTF-8.
var errText = errors.New("text is not UTF-8")

// texts checks whatever becomes a string of the machine.
func (v *verifier) texts() error {
	o := v.o
	if !utf8.ValidString(o.Doc) || !utf8.ValidString(o.Name) || !utf8.ValidString(o.QualName) {
		return errText
	}
	// Bounded: by three lists.
	for _, list := range [][]string{o.Names, o.Locals, o.Free} {
		// Paid: by the tokens and instructions whose compiling made the object.
		for _, name := range list {
			if !utf8.ValidString(name) {
				return errText
			}
		}
	}
	return textsOf(o.Consts)
}

// textsOf checks constants and those in tuples.
func textsOf(consts []Const) error {
	// Paid: by the tokens and instructions whose compiling made the object.
	for i := range consts {
		k := &consts[i]
		if k.Kind == Str && !utf8.ValidString(k.Text) {
			return errText
		}
		if err := textsOf(k.Items); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) instructions() error {
	v.inner = make([]bool, len(v.o.Instrs))
	// Paid: by the tokens and instructions whose compiling made the object.
	for i, in := range v.o.Instrs {
		if v.inner[i] {
			if in.Op != Jump {
				return fmt.Errorf("instruction %d: second word is not a jump", i)
			}
			continue
		}
		if in.Op.HasJump() {
			if i+1 == len(v.o.Instrs) {
				return fmt.Errorf("instruction %d: no second word", i)
			}
			v.inner[i+1] = true
		}
	}
	// Paid: by the tokens and instructions whose compiling made the object.
	for i, in := range v.o.Instrs {
		if err := v.verifyInstruction(in); err != nil {
			return fmt.Errorf("instruction %d: %s: %w", i, in.Op, err)
		}
	}
	n := len(v.o.Instrs) - 1
	if last := v.o.Instrs[n]; v.inner[n] || last.Op != Jump && last.Op != Return && last.Op != Raise && last.Op != Reraise {
		return errors.New("control runs past the end")
	}
	return nil
}

func (v *verifier) verifyInstruction(in Instr) error {
	if int(in.Op) >= NumOps {
		return errors.New("unknown opcode")
	}
	// Bounded: by the operands of an instruction, a handful.
	for _, x := range operands[in.Op] {
		if err := v.operand(x, in); err != nil {
			return err
		}
	}
	return nil
}

// operand checks one operand.
func (v *verifier) operand(x operand, in Instr) error {
	n, most := 0, 0
	switch x.field {
	case fieldA:
		n = int(in.A)
	case fieldB:
		n = int(in.B)
	case fieldC:
		n = int(in.C)
	case fieldWide:
		n = int(min(in.Wide(), 1<<31-1)) // cut, it is still past every table
	}
	switch x.kind {
	case asRegister:
		n, most = n+x.span(in)-1, v.o.Registers
	case asLocal:
		most = len(v.o.Locals)
	case asConst:
		most = len(v.o.Consts)
	case asName:
		most = len(v.o.Names)
	case asFree:
		most = len(v.o.Free)
	case asCode:
		most = len(v.o.Codes)
	case asTarget:
		if n < len(v.inner) && v.inner[n] {
			return fmt.Errorf("jump into the middle of instruction %d", n-1)
		}
		most = len(v.o.Instrs)
	case asNumber:
		most = x.count + 1
	case asKeywords:
		return v.keywords(in)
	}
	if n >= most {
		return fmt.Errorf("%s %d of %d", x.kind, n, most)
	}
	return nil
}

// keywords checks the constant that names the keywords of a call.
func (v *verifier) keywords(in Instr) error {
	if in.C == 0 {
		return nil
	}
	if int(in.C) > len(v.o.Consts) {
		return fmt.Errorf("constant %d of %d", in.C-1, len(v.o.Consts))
	}
	k := v.o.Consts[in.C-1]
	if k.Kind != Tuple || len(k.Items) > int(in.B) {
		return fmt.Errorf("constant %d does not name keywords of %d arguments", in.C-1, in.B)
	}
	// Paid: by the instructions that load the arguments: there are no fewer.
	for _, item := range k.Items {
		if item.Kind != Str {
			return fmt.Errorf("constant %d does not hold names", in.C-1)
		}
	}
	return nil
}

// handlers checks that rows of the exception table cover whole instructions and
// that each is disjoint from those before it or inside them.
func (v *verifier) handlers() error {
	n := uint32(len(v.o.Instrs))
	var open []int
	// Paid: by the tokens and instructions whose compiling made the object.
	for i, h := range v.o.Handlers {
		switch {
		case h.Start >= h.End || h.End > n || h.Target >= n || int(h.Reg) >= v.o.Registers:
			return fmt.Errorf("handler %d: [%d, %d) to %d in register %d is out of range", i, h.Start, h.End, h.Target, h.Reg)
		case v.inner[h.Start] || h.End < n && v.inner[h.End] || v.inner[h.Target]:
			return fmt.Errorf("handler %d: splits an instruction", i)
		case i > 0 && h.Start < v.o.Handlers[i-1].Start:
			return fmt.Errorf("handler %d: begins before the one before it", i)
		}
		// Paid: as the handlers that were opened.
		for len(open) > 0 && v.o.Handlers[open[len(open)-1]].End <= h.Start {
			open = open[:len(open)-1]
		}
		outer := 0
		if len(open) > 0 {
			if outer = open[len(open)-1] + 1; h.End > v.o.Handlers[outer-1].End {
				return fmt.Errorf("handler %d: overlaps the one around it", i)
			}
		}
		if h.Outer != uint32(outer) {
			return fmt.Errorf("handler %d: lies in %d, not in %d", i, outer, h.Outer)
		}
		open = append(open, i)
	}
	return nil
}
