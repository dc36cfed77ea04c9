package vm

// This file lists the functions of the contract that their owners have not
// built yet; an owner deletes the lines that he builds. It is empty, and gone,
// before the machine runs anything.

// --- vmcore: interp, calls, generators, heap, imports

// --- vmobj: classes, attributes, dispatch, exceptions

// --- vmnum: numbers and text

// Direct forms of the protocols for builtin kinds, exact or of a subclass: false
// when v is not of the area's kinds. x unbound in set means delete.
func (rt *Runtime) containerBuiltins() []Def { return nil } // vmcol
