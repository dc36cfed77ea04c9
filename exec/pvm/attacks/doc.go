// Package attacks is the corpus of hostile programs, and the runner that holds
// the machine to them: each must end with the verdict it names, within its
// cycles and modelled heap, without a defect of the machine, and the machine's
// own memory must stay in proportion to the modelled heap (whitepaper §3.2, §3.5).
//
// In flow the files of testdata, out flow [Attack] values and what one run of
// each measured. TestCross besides calls everything with everything, at random, and TestEvolve
// breeds programs by a grammar. TestShortRuns cuts each attack short: what a run may
// do once for nothing, a block does thousands of times.
// Only tests and the bench of the cost table import it.
package attacks
