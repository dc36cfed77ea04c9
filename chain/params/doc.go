// Package params holds the parameters of the protocol, in groups: their names and
// defaults with the reason of each, the bounds within which a chain works, and how
// governance changes them.
//
// [Params] is the set in force. A genesis states all of it, the state keeps what was
// voted since ([KeptSetting]), and [Params.With] puts both together. What follows from
// parameters alone stands here too: intrinsic costs of an instruction, and the most that
// a node stores of a block.
package params
