package code

import (
	"fmt"
	"strconv"
	"strings"
)

// Disassemble returns the object and those inside it as text, one instruction
// a line: index, source line where it changes, opcode, operands and what they
// stand for.
func Disassemble(o *Object) string {
	var b strings.Builder
	disassemble(&b, o)
	return b.String()
}

func disassemble(b *strings.Builder, o *Object) {
	fmt.Fprintf(b, "%s (line %d): %d registers", o.QualName, o.FirstLine, o.Registers)
	if len(o.Locals) > 0 {
		// Bounded: by the limits of compiling; only the command line prints code.
		fmt.Fprintf(b, ", locals %s", strings.Join(o.Locals, " "))
	}
	if len(o.Free) > 0 {
		// Bounded: by the limits of compiling; only the command line prints code.
		fmt.Fprintf(b, ", free %s", strings.Join(o.Free, " "))
	}
	b.WriteByte('\n')
	line := int32(-1)
	// Bounded: by the limits of compiling; only the command line prints code.
	for i := 0; i < len(o.Instrs); i++ {
		in := o.Instrs[i]
		at := ""
		if o.Lines[i] != line {
			line = o.Lines[i]
			at = strconv.Itoa(int(line))
		}
		text := fmt.Sprintf("%5s %4d %-14s%s", at, i, in.Op, o.operandTexts(in))
		if in.Op.HasJump() && i+1 < len(o.Instrs) {
			i++
			text += fmt.Sprintf(" -> %d", o.Instrs[i].Wide())
		}
		// Bounded: by the limits of compiling; only the command line prints code.
		b.WriteString(strings.TrimRight(text, " "))
		b.WriteByte('\n')
	}
	// Bounded: by the limits of compiling; only the command line prints code.
	for _, h := range o.Handlers {
		fmt.Fprintf(b, "      except [%d, %d) -> %d in r%d\n", h.Start, h.End, h.Target, h.Reg)
	}
	// Bounded: by the limits of compiling; only the command line prints code.
	for _, c := range o.Codes {
		b.WriteByte('\n')
		disassemble(b, c)
	}
}

// operandTexts returns the operands of in as text. Operands out of range show as
// numbers.
func (o *Object) operandTexts(in Instr) string {
	if int(in.Op) >= NumOps {
		return fmt.Sprintf(" %d %d %d", in.A, in.B, in.C)
	}
	var b strings.Builder
	// Bounded: by the limits of compiling; only the command line prints code.
	for _, x := range operands[in.Op] {
		b.WriteByte(' ')
		n := [...]int{int(in.A), int(in.B), int(in.C), int(min(in.Wide(), 1<<31-1))}[x.field]
		switch x.kind {
		case asRegister:
			fmt.Fprintf(&b, "r%d", n)
			if s := x.span(in); s != 1 {
				fmt.Fprintf(&b, "+%d", s)
			}
		case asLocal:
			b.WriteString(nameOf(o.Locals, n))
		case asConst:
			if n < len(o.Consts) {
				b.WriteString(o.Consts[n].String())
			} else {
				fmt.Fprintf(&b, "k%d", n)
			}
		case asName:
			b.WriteString(nameOf(o.Names, n))
		case asFree:
			b.WriteString(nameOf(o.Free, n))
		case asCode:
			fmt.Fprintf(&b, "code%d", n)
		case asTarget:
			fmt.Fprintf(&b, "-> %d", n)
		case asNumber:
			fmt.Fprintf(&b, "%d", n)
		case asKeywords:
			if n > 0 && n <= len(o.Consts) {
				fmt.Fprintf(&b, "keywords %s", o.Consts[n-1])
			}
		}
	}
	switch in.Op {
	case AddI:
		fmt.Fprintf(&b, " %d", int16(in.C))
	case MatchClass:
		fmt.Fprintf(&b, " %d", in.C)
	}
	return b.String()
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("n%d", i)
}

// String returns the constant much as Python would print it.
func (k Const) String() string {
	switch k.Kind {
	case True:
		return "True"
	case False:
		return "False"
	case Ellipsis:
		return "..."
	case Int:
		return strconv.FormatInt(k.Int64, 10)
	case BigInt:
		return "0x" + k.Big.Text(16)
	case Binary64:
		return fmt.Sprintf("float:%016x", k.Bits)
	case Str:
		return strconv.Quote(k.Text)
	case Bytes:
		return "b" + strconv.Quote(k.Text)
	case Tuple, FrozenSet:
		items := make([]string, len(k.Items))
		// Bounded: by the limits of compiling; only the command line prints code.
		for i, item := range k.Items {
			items[i] = item.String()
		}
		if k.Kind == FrozenSet {
			// Bounded: by the limits of compiling; only the command line prints code.
			return "{" + strings.Join(items, ", ") + "}"
		}
		// Bounded: by the limits of compiling; only the command line prints code.
		return "(" + strings.Join(items, ", ") + ")"
	}
	return "None"
}
