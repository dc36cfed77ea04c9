//go:build linux

package secp

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// placement says where in its memory an argument lies.
type placement int

const (
	beforeGuard placement = iota // its last byte is the last that may be touched
	afterGuard                   // its first byte is the first that may be
	unaligned                    // on no boundary above 8 bytes
)

// placed returns a zero T between two pages that may not be touched.
func placed[T any](t *testing.T, where placement) *T {
	t.Helper()
	page := syscall.Getpagesize()
	size := int(unsafe.Sizeof(*new(T)))
	inner := (size + 8 + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	switch where {
	case beforeGuard:
		at = page + inner - size
	case unaligned:
		at = page + 8
	}
	return (*T)(unsafe.Pointer(&mem[at]))
}

// TestKernelsStayInBounds runs every routine on arguments that border on pages
// which may not be touched, and on unaligned ones, and compares with the
// generic kernel on ordinary memory.
func TestKernelsStayInBounds(t *testing.T) {
	type arguments struct {
		x, y, z       *Quad
		p             *Pair
		px, py        *[2]Element
		m             *Multiples
		own           *[2]Table
		shared        *SharedTable
		d             *[2]Digits
		first, second *Step
	}
	run := func(k Kernel, a arguments) {
		s := newSource(21)
		*a.x, *a.y = s.quad(true), s.quad(true)
		*a.px, *a.py = [2]Element{s.element(false), s.element(false)}, [2]Element{s.element(false), s.element(false)}
		for i := range a.shared {
			for w := range a.shared[i] {
				a.shared[i][w] = s.Uint64()
			}
		}
		// Digits of all ones and all zeros read the ends of the tables.
		*a.d = [2]Digits{}
		for w := range 5 {
			for i := range Lanes {
				a.d[0][w][i] = -uint64(i & 1)
				a.d[1][w][i] = s.Uint64()
			}
		}
		*a.first, *a.second = StepAt(319, true), StepAt(0, false)
		k.Mul(a.z, a.x, a.y)
		k.Square(a.x, a.z, 2)
		k.Add(a.z, a.z, a.x)
		k.Sub(a.z, a.z, a.x)
		k.Normalize(a.z)
		k.MulOne(&a.z[3], &a.x[3], &a.y[3])
		k.SquareOne(&a.z[0], &a.x[0], 1)
		k.Multiples(a.m, a.px, a.py)
		k.Tabulate(a.own, a.m)
		for _, step := range []*Step{a.first, a.second} {
			k.Load(a.p, a.own, a.d, step)
			k.Double(a.p, 2)
			k.AddOwn(a.p, a.own, a.d, step)
			k.AddShared(a.p, a.shared, a.d, step, &a.m.Z)
		}
	}
	want := arguments{
		new(Quad), new(Quad), new(Quad), new(Pair), new([2]Element), new([2]Element), new(Multiples),
		new([2]Table), new(SharedTable), new([2]Digits), new(Step), new(Step),
	}
	run(Kernels(cpu.Features{})[0], want)
	eachKernel(t, func(t *testing.T, k Kernel) {
		for _, where := range []placement{beforeGuard, afterGuard, unaligned} {
			got := arguments{
				placed[Quad](t, where), placed[Quad](t, where), placed[Quad](t, where), placed[Pair](t, where),
				placed[[2]Element](t, where), placed[[2]Element](t, where), placed[Multiples](t, where),
				placed[[2]Table](t, where), placed[SharedTable](t, where), placed[[2]Digits](t, where),
				placed[Step](t, where), placed[Step](t, where),
			}
			run(k, got)
			if *got.x != *want.x || *got.z != *want.z || *got.p != *want.p || *got.m != *want.m || *got.own != *want.own {
				t.Errorf("placement %d: the result differs from generic", where)
			}
		}
	})
}
