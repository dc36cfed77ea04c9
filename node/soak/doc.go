// Package soak holds the tests that treat a validator as its operator's machine
// does: the real binary, real files, and SIGKILL at random moments.
//
// The short form runs with the other tests; `make soak-kill` runs the long one. A runner
// market on validators that are killed has no short form there: `make soak-market-kills`.
package soak
