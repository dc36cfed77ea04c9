// Package vm is the Python machine: values, classes, the interpreter and the
// builtins. It runs code objects with the same result, the same cycles and the
// same modelled heap on every node (whitepaper §3; resolutions 2.7, 2.8, 11.38,
// 11.39, 11.47, 11.48).
//
// In flow a [Runtime] - builtin classes, library modules, costs: immutable,
// shared by all machines - and a code object; out flow values, output and the
// cycles and bytes used. One [Machine] serves one call at a time on one
// goroutine and starts none.
//
// # Files
//
// The first word of a file's name says its group. The first file that a row names begins
// with an account of the group.
//
//	machine      machine, runtime, native,   one call from beginning to end, what natives are
//	             errors, profile, changes,   given, and what a machine keeps for the next call
//	             memory
//	heap         heap                        the account of modelled memory and its measurement
//	interpreter  interp, operator            the loop, an instruction at a time; inline caches;
//	                                         fused instructions; match statements
//	calls        call, frame, function       from arguments to a frame, and back
//	unwinding    unwind, exception           an exception on its way to its handler; the classes
//	                                         of exceptions, groups, tracebacks
//	generators   generator                   generators, coroutines, asynchronous generators
//	values       value, abstract, attr       the 16 bytes of a value; protocols that work on any
//	                                         object: len, [], +, ==, str, attributes
//	classes      class, classes, builtin     class statements, type, super, descriptors, unions
//	                                         and aliases; the builtins of every module
//	containers   container, list, tuple,     list, tuple, dict, set, range, slice, their
//	             dict, set, hashtable,       iterators; the hash table; sorting
//	             range, slice, sort,
//	             iterator
//	numbers      int, float                  int, bool and float, on 64 bits and beyond; floats
//	                                         by softfloat alone
//	text         str, text, bytes, format    str, bytes, bytearray: what they share, and what
//	                                         each has alone; formatting by %
//	modules      import, library, embed      import of the library; the names by which Go code of
//	                                         the library makes and reads values
//
// # Values
//
// A [Value] is 16 bytes: a pointer to an object's header and 64 bits beside it.
// None, bools, ints of 64 bits and floats live in the value itself, their
// pointer being one of a few tags; everything else is an object. The way back
// from a header to its object is a checked type assertion, so a mistake of ours
// is a panic that ends the call, not a wrong memory access.
//
// # Errors
//
// What Python code can catch travels as an error of type *[Raised] through every
// function of this package. What it must not catch - cycles or heap used up,
// a defect of ours - unwinds by a panic of type *[Abort] that only
// [Machine.Execute] recovers: there is no path by which a program, or a native
// that forgets to look, survives it.
//
// # Cost
//
// The interpreter charges each instruction; natives charge what depends on
// sizes, before the work, by [Machine.Charge], and announce memory before they
// allocate it, by [Machine.Alloc]. Caches and fused instructions never change a
// charge. Probe counts of hash tables are never charged: their layout follows
// a key of the process.
//
// # Depth
//
// Every Go recursion that a program can drive - calls of Python code from
// natives, repr, comparison, json - goes through [Machine.Enter], which counts to
// the one recursion limit of 256 together with Python frames.
package vm
