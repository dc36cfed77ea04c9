//go:build unix

package keccak

import (
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// guarded returns memory with a page before it and one behind it that fault on
// any access.
func guarded(t *testing.T, bytes int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size := (bytes + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, forbidden := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(forbidden, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[page : page+size]
}

// TestNoAccessOutsideMessages lets every lane's message begin and end where the
// readable memory does. A kernel that reads a byte more dies.
func TestNoAccessOutsideMessages(t *testing.T) {
	const most = 3*Rate + 1
	mem := guarded(t, most)
	for i := range mem {
		mem[i] = byte(i * 31)
	}
	for _, k := range Kernels(cpu.Detect()) {
		lanes := k.Lanes()
		msgs, got := make([][]byte, lanes), make([][Size]byte, lanes)
		for n := range most {
			front, back := mem[:n], mem[len(mem)-n:]
			for lane := range lanes {
				for i := range msgs {
					msgs[i] = back
					if i == lane {
						msgs[i] = front
					}
				}
				if !k.Sum(msgs, got) {
					t.Fatalf("%v refuses %d bytes", k, n)
				}
				if lane > 0 && n%17 != 0 {
					continue // the digests are TestKernelsAgree's business
				}
				for i, m := range msgs {
					if got[i] != reference(m) {
						t.Fatalf("%v: lane %d of %d bytes differs", k, i, n)
					}
				}
			}
		}
	}
}

// TestNoAccessOutsideTheArrays puts the slice headers' array and the digests at
// the ends of readable memory.
func TestNoAccessOutsideTheArrays(t *testing.T) {
	for _, k := range Kernels(cpu.Detect()) {
		mem := guarded(t, k.Lanes()*Size)
		for _, at := range []int{0, len(mem) - k.Lanes()*Size} {
			msgs, want := make([][]byte, k.Lanes()), make([][Size]byte, k.Lanes())
			for i := range msgs {
				msgs[i] = []byte{byte(i)}
				want[i] = reference(msgs[i])
			}
			got := digestsIn(mem[at : at+k.Lanes()*Size])
			if k.Sum(msgs, got); !slices.Equal(got, want) {
				t.Errorf("%v: got %x, want %x", k, got, want)
			}
		}
	}
}

// TestNoAccessOutsideTheState does the same for a lone state.
func TestNoAccessOutsideTheState(t *testing.T) {
	for _, k := range Kernels(cpu.Detect()) {
		mem := guarded(t, 200)
		for _, at := range []int{0, len(mem) - 200} {
			s := stateIn(mem[at : at+200])
			*s = State{1, 24: 2}
			want := *s
			permuteByTheBook(&want)
			if k.Permute(s); *s != want {
				t.Errorf("%v: got %x, want %x", k, *s, want)
			}
		}
	}
}

// digestsIn and stateIn see raw memory as what a kernel takes.
func digestsIn(mem []byte) [][Size]byte {
	return unsafe.Slice((*[Size]byte)(unsafe.Pointer(&mem[0])), len(mem)/Size)
}

func stateIn(mem []byte) *State { return (*State)(unsafe.Pointer(&mem[0])) }
