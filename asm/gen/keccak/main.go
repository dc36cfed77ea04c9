// Command keccak writes the Keccak kernels of asm/keccak into the folder it is
// given: the permutation in plain Go, and the kernels of amd64 as assembly with
// their Go declarations. The output depends on nothing else.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: keccak FOLDER")
	}
	for name, make := range map[string]func() ([]byte, error){
		"permute_generic.go": plainGo,
		"kernels_amd64.s":    func() ([]byte, error) { return assembly(printer.NewGoAsm) },
		"kernels_amd64.go":   func() ([]byte, error) { return assembly(printer.NewStubs) },
	} {
		text, err := make()
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(os.Args[1], name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// assembly builds all kernels and renders them as the printer wants.
func assembly(render func(printer.Config) printer.Printer) ([]byte, error) {
	c := build.NewContext()
	c.ConstraintExpr("amd64,!purego")
	table := iotaTable(c)
	onePermutation(c, table)
	oneRows(c, table)
	lanesOne(c, table)
	for _, lanes := range []int{8, 4} {
		wideSum(c, lanes, table)
	}
	fourBlocks(c, table)
	file, err := c.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	text, err := render(printer.Config{Name: "asm/gen/keccak", Pkg: "keccak"}).Print(file)
	return bytes.TrimLeft(text, "\n"), err
}

// roundConstants are iota's (FIPS 202 §3.2.5).
var roundConstants = [24]uint64{
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
}

const rodata = attr.RODATA | attr.NOPTR

func iotaTable(c *build.Context) operand.Mem {
	table := c.StaticGlobal("iotaConstants")
	c.DataAttributes(rodata)
	for _, constant := range roundConstants {
		c.AppendDatum(operand.U64(constant))
	}
	return table
}

// offset is rho's rotation of the lane with index x + 5y.
func offset(lane int) int { return rotation[lane%5][lane/5] }

// target is where pi moves a lane: (x, y) goes to (y, 2x + 3y).
func target(lane int) int {
	x, y := lane%5, lane/5
	return y + 5*((2*x+3*y)%5)
}

// origin is the lane that pi moves to this one.
func origin(lane int) int {
	for from := range 25 {
		if target(from) == lane {
			return from
		}
	}
	panic("pi is a permutation")
}
