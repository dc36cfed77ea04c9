//spec:implements whitepaper 3.1

// Package pvm puts the Python machine together: source to program, programs
// kept by hash, machines kept for reuse, and one call at a time through them.
//
// In flow source bytes, arguments and limits, out flow results with their cycles
// and modelled heap. A program is a pure function of its source; a [Cache] may
// hold any number of them, none included, without any effect on results or
// cycles (whitepaper §3, resolutions 2.7, 2.8, 11.38). An [Engine] serves one
// goroutine; engines share their runtime, which is immutable.
//
// # The path of a program
//
// A deployment brings source bytes, and the first message of a block to an actor finds
// them under their hash. From there, package by package:
//
//	pvm           Engine.Program: from the cache, or compiled now (program.go)
//	syntax        bytes to tokens and a tree, with CPython's errors, within limits
//	ucd             what letters and digits are: tables of Unicode 14
//	softfloat       the literals that are floats
//	scope         which scope each name belongs to
//	gate          what the protocol forbids, with line numbers
//	continuation  handlers that await runners are taken apart into steps
//	compile       tree and names to registers, constants and exception tables
//	code          the code object, its instructions and their prices: immutable from here
//	pvm           Engine.Call: a clean machine, a session with the chain, the handler (call.go)
//	vm            loads it as a module: Machine, frames, the interpreter's loop (interp.go)
//	format          numbers and texts to and from text
//	libm, decimal   functions of math, and decimal arithmetic, on integers alone
//	lib           import json, re, math, ...: natives, and modules in Python
//	regex           patterns of re, matched within a budget
//	sdk           import cowboy_sdk: the program asks the chain for something
//	host            ten small interfaces, which exec/actor implements; nothing of Python
//	                crosses them
//	values        arguments, answers and stored values as canonical CBOR
//	pvm           Answer: output, cycles, exception; the machine is reset and kept
//
// Beside the path stand attacks (hostile programs, each with its verdict), conformance
// and cpython (CPython's own tests, run here), and soak.
package pvm
