package chain

import "github.com/cowboy-foundation/cowboy/chain/cbor"

// Bounds of what deployments and messages name.
const (
	MaxSaltBytes   = 32
	MaxHandlerName = MaxEventName // bytes
)

// ReadMessage reads [handler, argument], the argument a byte string with the
// canonical encoding of a value: the payload of a message, and what a deployment
// asks of its new actor (resolution 11.43). What is in the argument is for the
// handler to judge.
func ReadMessage(r *cbor.Reader) (handler string, arg []byte, err error) {
	if err = r.ArrayOf(len(messageSpec.Args)); err != nil {
		return "", nil, err
	}
	if handler, err = r.Text(MaxHandlerName); err != nil {
		return "", nil, err
	}
	arg, err = r.Bytes(MaxTxBytes)
	return handler, arg, err
}

// ParseMessage reads a payload that is a message and nothing else.
func ParseMessage(payload []byte) (handler string, arg []byte, err error) {
	r := cbor.NewReader(payload)
	if handler, arg, err = ReadMessage(&r); err == nil {
		err = r.End()
	}
	if err != nil {
		return "", nil, payloadError(messageSpec.Name, err)
	}
	return handler, arg, nil
}
