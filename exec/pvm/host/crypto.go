package host

// Crypto is the signatures of the validators' curve. Every other hash and
// signature is a pure function that package sdk has itself; these need a C
// library, without which the machine must build (docs/pvm.md).
type Crypto interface {
	// VerifyBLS tells whether signature (48 bytes, G1) is the signature of message
	// by key (96 bytes, G2) under a namespace of at most 256 bytes. What is no
	// point of its group verifies nothing. Charge: verify_bls, hash_byte per
	// byte of namespace and message.
	VerifyBLS(key [96]byte, namespace, message []byte, signature [48]byte) (bool, error)
	// VerifyVRF returns the output that a proof shows for message; false where the
	// proof does not hold (resolution 11.41). Charge: as VerifyBLS, and hash.
	VerifyVRF(key [96]byte, namespace, message []byte, proof [48]byte) (out [32]byte, ok bool, err error)
}
