package runners

import "github.com/cowboy-foundation/cowboy/chain"

// Published reports whether there is an entry of a model (resolution 12.62). The error is a
// fault.
func Published(view Reader, model chain.Hash) (bool, error) {
	row, err := view.Storage(chain.AddrRunnerRegistry, key("model/", model[:]))
	return row != nil, err
}
