package light

import "errors"

// Reasons for which a document proves nothing. All of them are the fault of
// whoever made it or carried it, except where it is about another chain.
var (
	// ErrTooLarge means more bytes, headers or keys than the limits allow.
	ErrTooLarge = errors.New("proof is too large")
	// ErrMalformed means bytes that are no document, or not in its one spelling.
	ErrMalformed = errors.New("proof is malformed")
	// ErrOtherChain means a document of another chain than the genesis.
	ErrOtherChain = errors.New("proof is of another chain")
	// ErrNotFinal means a certificate that is none under the group key of the
	// genesis, or one that finalizes nothing.
	ErrNotFinal = errors.New("block is not shown to be final")
	// ErrOtherBlock means a header, height, hash or root that does not belong
	// to the block that the certificate is for.
	ErrOtherBlock = errors.New("proof is not of the certified block")
	// ErrNotShown means nodes that do not lead from the root to the value, or
	// a value other than the one they lead to.
	ErrNotShown = errors.New("proof does not show what it says")
	// ErrNotAsked means a document that may be right and answers another
	// question.
	ErrNotAsked = errors.New("proof answers another question")
)
