// Package setup makes the folders in which nodes begin: a development chain of one
// validator, or a chain of several whose keys one process deals.
//
// In go a template of a genesis, the number of validators and full nodes, and how
// their keys are sealed. Out come data folders (package datadir) that are whole: each
// has keys, the memory of what they signed, and the genesis, which is written last. A
// folder that holds a chain is left as it is, and said to hold one ([ErrDealExists],
// [ErrDevnetExists]).
//
// One process that makes every key has known the threshold key, so a deal says so
// beside its genesis ([TrustedDeal]). The accounts of development chains are the same
// on each: whoever has this source has their keys.
package setup
