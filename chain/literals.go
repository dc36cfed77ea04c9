package chain

// Literals that enter hashes and signatures, all in one place. A changed byte
// here is a hard fork. Those marked "ours" stand for literals that no public
// text preserves; the golden vectors under testdata/vectors pin them.
const (
	blockDomain = "cowboy-block-v1" // ours; header digest

	consensusNamespace = "cowboy-simplex-v1" // resolution 11.42; the genesis hash follows
	orderSuffix        = "_ORDER"            // resolution 11.41
)

// Namespace returns the application namespace of consensus signatures: it
// names the chain, so no signature is valid on another (resolutions 11.2,
// 11.42).
func Namespace(genesis Hash) []byte {
	return append([]byte(consensusNamespace), genesis[:]...)
}

// OrderNamespace returns the namespace under which a proposer signs the order
// message of its block (resolution 11.41).
func OrderNamespace(genesis Hash) []byte {
	return append(Namespace(genesis), orderSuffix...)
}
