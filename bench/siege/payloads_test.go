package siege

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// The parts of payloads.

func null() []byte { return cbor.AppendNull(nil) }

func text(s string) []byte { return cbor.AppendText(nil, s) }

func raw(b []byte) []byte { return cbor.AppendBytes(nil, b) }

func number(n uint64) []byte { return cbor.AppendUint(nil, n) }

func list(items ...[]byte) []byte {
	b := cbor.AppendArray(nil, len(items))
	for _, item := range items {
		b = append(b, item...)
	}
	return b
}

// addresses is a list of byte strings.
func addresses(of []chain.Address) []byte {
	var items [][]byte
	for _, a := range of {
		items = append(items, raw(a[:]))
	}
	return list(items...)
}

// message is the payload of a message.
func message(handler string, arg []byte) []byte { return actor.AppendMessage(nil, handler, arg) }
