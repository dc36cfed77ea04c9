package params

import "github.com/cowboy-foundation/cowboy/chain"

// feePair is a [chain.FeePair] as a group of the document.
type feePair chain.FeePair
