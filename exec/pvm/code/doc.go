// Package code is the program that the machine runs: the instruction set, one
// code object per function, class body or module, and what each instruction
// costs.
//
// In flows what the compiler emits, out flows what the machine reads; neither
// knows of the other. A code object is immutable once built and shared by every
// machine that runs it, so it holds no caches.
//
// # Registers
//
// A frame has Code.Registers registers. Parameters come first, in the order
// positional-only, positional, keyword-only, *args, **kwargs; then the other
// locals; then temporaries. A register that holds nothing is unbound. The
// register of a captured local holds its cell from [MakeCell] on.
//
// # Instructions
//
// An instruction is eight bytes: an opcode and three operands A, B and C of 16
// bits. Where an operand is an index beyond 16 bits or a jump target it takes B
// and C together ([Instr.Wide]). Opcodes marked +jump are followed by a second
// word, a [Jump] that tells the target and is never executed by itself.
//
// # Cost
//
// Every instruction costs Costs[op] cycles before it runs, and what depends on
// the size of its operands the machine adds while it runs (whitepaper §3.5,
// resolutions 2.7 and 2.8). Fusing two instructions never changes the sum.
package code
