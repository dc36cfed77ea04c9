// Package genesis holds what fixes a chain: who starts it, who owns what, and every
// parameter. The hash of a [Genesis] is the chain's identity.
//
// [Parse] reads a genesis file strictly; [Genesis.Complete] makes one of a template. A
// balance that vests is locked by a [Lock], which execution reads from the metadata of
// the account. Whether the keys of validators belong together says chain/ceremony.
package genesis
