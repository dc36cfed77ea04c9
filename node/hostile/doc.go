// Package hostile holds lanes, exec and exec/parallel to one answer for whatever a
// sender may hand in: each instruction of the table with arguments of every wrong
// form, at and beyond each of its bounds, in wrong lanes, by wrong senders, again,
// for other chains, and with too little of everything. A transaction that no block
// takes is refused at admission with the reason that a block would give; one that
// fails pays and changes nothing else; nothing makes a node fault.
//
// The package has tests only. Its cases are made from chain.InstructionTable: a row
// that runs and has no case fails them.
package hostile
