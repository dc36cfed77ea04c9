// Command secp writes the AVX-512 IFMA kernels of asm/secp into the folder it
// is given, whose element.go declares the types they share: field and point
// arithmetic of secp256k1 on eight lanes at a time. The output depends on
// nothing else.
//
// An element is five vectors of eight 64-bit lanes, limbs of 52 bits. The
// multiplier's ports are the bottleneck (two multiply-adds a cycle beside two
// other vector operations), so the code saves multiply-adds first, and carries
// wherever that is simplest. Groups of eight lanes are written one after the
// other within each step: while one waits for its latencies the processor works
// on the next.
//
// Every limb bound that the code relies on stands beside it; asm/secp's package
// comment defines the terms.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	. "github.com/mmcloughlin/avo/reg"
)

// Sizes of the Go types that the routines share with asm/secp.
const (
	elementBytes  = 5 * 64
	pointBytes    = 3 * elementBytes
	pairs         = 2 // groups that point routines work on in turns
	quads         = 4 // groups that field routines work on in turns
	entries       = 16
	sharedEntries = 4096
	rowBytes      = 64
)

// z are the vector registers: 0-9 columns of a product, 10-14 the first
// factor, 15-19 the second, 20-27 free, 28-31 constants.
var z = []VecPhysical{
	Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
	Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
}

var (
	mask52 = z[28] // 2^52 - 1
	mask48 = z[29] // 2^48 - 1
	fold60 = z[30] // 2^260 mod p
	fold56 = z[31] // 2^256 mod p
)

const (
	atBias   = 4 * 8
	atBeta   = atBias + 5*8
	atLanes  = atBeta + 5*8
	atOwn    = atLanes + 8*8 // the lower bits of a digit, its top bit
	atShared = atOwn + 2*8
)

// prime is p = 2^256 - 2^32 - 977 in limbs.
var prime = [5]uint64{0xffffefffffc2f, 0xfffffffffffff, 0xfffffffffffff, 0xfffffffffffff, 0xffffffffffff}

// beta is the cube root of one mod p with lambda·(x, y) = (beta·x, y).
var beta = [5]uint64{0x96c28719501ee, 0x7512f58995c13, 0xc3434e99cf049, 0x7106e64479ea, 0x7ae96a2b657c}

// writer emits instructions. Its read-only data sit at sym: the four constants
// above, then 8p and beta limb by limb, and what lookups need.
type writer struct {
	*build.Context
	pkg   *types.Package
	sym   Mem
	turn  group // registers of the current function's loops over groups
	steps int   // such loops so far, for their labels
}

func (c *writer) bias(i int) Mem { return c.sym.Offset(atBias + 8*i) }
func (c *writer) beta(i int) Mem { return c.sym.Offset(atBeta + 8*i) }

func newWriter(pkg *types.Package) *writer {
	c := &writer{Context: build.NewContext(), pkg: pkg}
	c.ConstraintExpr("amd64,!purego")
	c.sym = c.StaticGlobal("constants")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	put := func(v uint64) { c.AppendDatum(U64(v)) }
	put(1<<52 - 1)
	put(1<<48 - 1)
	put(0x1000003d10)
	put(0x1000003d1)
	for _, limb := range prime {
		put(8 * limb)
	}
	for _, limb := range beta {
		put(limb)
	}
	for lane := range 8 {
		put(uint64(lane * entries * rowBytes))
	}
	for _, top := range []uint64{entries, sharedEntries} {
		put(top - 1)
		put(top)
	}
	return c
}

// routine starts a function and loads its arguments and the constants.
func (c *writer) routine(name, signature, doc string, args ...string) []Register {
	sig, err := gotypes.ParseSignatureInPackage(c.pkg, signature)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	c.Function(name)
	c.turn = group{}
	c.Signature(sig)
	c.Doc(name + " " + doc)
	c.Pragma("noescape")
	regs := make([]Register, len(args))
	for i, arg := range args {
		regs[i] = c.Load(c.Param(arg), c.GP64())
	}
	for i := range 4 {
		c.VPBROADCASTQ(c.sym.Offset(8*i), z[28+i])
	}
	return regs
}

func (c *writer) finish() {
	c.VZEROUPPER()
	c.RET()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: secp FOLDER")
	}
	pkg, err := sharedTypes(filepath.Join(os.Args[1], "element.go"))
	if err != nil {
		log.Fatal(err)
	}
	for name, render := range map[string]func(printer.Config) printer.Printer{
		"kernels_amd64.s":  printer.NewGoAsm,
		"kernels_amd64.go": printer.NewStubs,
	} {
		text, err := assembly(pkg, render)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// sharedTypes reads the declarations that signatures name.
func sharedTypes(file string) (*types.Package, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return (&types.Config{}).Check("secp", fset, []*ast.File{tree}, nil)
}

// assembly builds all kernels and renders them as the printer wants.
func assembly(pkg *types.Package, render func(printer.Config) printer.Printer) ([]byte, error) {
	c := newWriter(pkg)
	c.fieldRoutines()
	c.pointRoutines()
	c.tableRoutines()
	file, err := c.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	text, err := render(printer.Config{Name: "asm/gen/secp", Pkg: "secp"}).Print(file)
	return bytes.TrimLeft(text, "\n"), err
}
