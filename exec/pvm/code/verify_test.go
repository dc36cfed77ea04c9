package code_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
)

func program(t *testing.T) *code.Object {
	t.Helper()
	src, err := os.ReadFile("../compile/testdata/flow.py")
	if err != nil {
		t.Fatal(err)
	}
	o, err := compile.Source(src, "flow.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if err := code.Verify(o); err != nil || o.Tokens == 0 {
		t.Fatal(err, o.Tokens)
	}
	return o
}

// TestVerifyRefuses damages one thing at a time.
func TestVerifyRefuses(t *testing.T) {
	for name, damage := range map[string]func(o *code.Object){
		"register":       func(o *code.Object) { o.Instrs[0].A = 1 << 14 },
		"opcode":         func(o *code.Object) { o.Instrs[0].Op = code.Op(code.NumOps) },
		"runs out":       func(o *code.Object) { o.Instrs[len(o.Instrs)-1].Op = code.Nop },
		"lines":          func(o *code.Object) { o.Lines = o.Lines[1:] },
		"empty":          func(o *code.Object) { o.Instrs, o.Lines = nil, nil },
		"parameters":     func(o *code.Object) { o.Args = len(o.Locals) + 1 },
		"handler":        func(o *code.Object) { o.Handlers[0].Target = uint32(len(o.Instrs)) },
		"handler order":  func(o *code.Object) { o.Handlers[0], o.Handlers[2] = o.Handlers[2], o.Handlers[0] },
		"handler around": func(o *code.Object) { o.Handlers[1].Outer = uint32(len(o.Handlers)) },
		"overlap":        func(o *code.Object) { o.Handlers[0].End = o.Handlers[1].Start + 1 },
		"docstring":      func(o *code.Object) { o.Doc, o.HasDoc = "\xed\xa0\x80", true },
		"name":           func(o *code.Object) { o.Names = append(o.Names, "\xed\xa0\x80") },
		"constant":       func(o *code.Object) { o.Consts = append(o.Consts, code.Const{Kind: code.Str, Text: "\xff"}) },
		"constant inside": func(o *code.Object) {
			o.Consts = append(o.Consts, code.Const{Kind: code.Tuple, Items: []code.Const{{Kind: code.Str, Text: "\xed\xbf\xbf"}}})
		},
		"second word": func(o *code.Object) {
			for i := range o.Instrs {
				if o.Instrs[i].Op.HasJump() {
					o.Instrs[i+1].Op = code.Nop
				}
			}
		},
	} {
		o := program(t)
		damage(o.Codes[2])
		if err := code.Verify(o); !errors.Is(err, code.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerifyNeverPanics sets each operand to its extreme.
func TestVerifyNeverPanics(t *testing.T) {
	o := program(t)
	for _, c := range o.Codes {
		for i, in := range c.Instrs {
			for _, bad := range []code.Instr{{Op: in.Op, A: 1<<16 - 1}, {Op: in.Op, B: 1<<16 - 1}, {Op: in.Op, C: 1<<16 - 1}} {
				c.Instrs[i] = bad
				_ = code.Disassemble(o)
				if err := code.Verify(o); err != nil && !errors.Is(err, code.ErrInvalid) {
					t.Error(err)
				}
			}
			c.Instrs[i] = in
		}
	}
	if err := code.Verify(o); err != nil {
		t.Error(err)
	}
}

// TestHandlerAt finds what going through all rows finds.
func TestHandlerAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		o := &code.Object{}
		var nest func(from, to uint32)
		nest = func(from, to uint32) {
			for from < to && len(o.Handlers) < 40 {
				end := from + 1 + rng.Uint32N(to-from)
				if rng.IntN(3) > 0 {
					o.Handlers = append(o.Handlers, code.Handler{Start: from, End: end, Target: uint32(len(o.Handlers))})
					nest(from, end)
				}
				from = end
			}
		}
		nest(0, 50)
		o.LinkHandlers()
		for i := range uint32(52) {
			var want *code.Handler
			for k := range o.Handlers {
				if h := &o.Handlers[k]; h.Start <= i && i < h.End {
					want = h
				}
			}
			if got := o.HandlerAt(i); got != want {
				t.Fatalf("instruction %d of %v: %v, want %v", i, o.Handlers, got, want)
			}
		}
	}
}
