//spec:implements whitepaper 1.1-1.3

package chain

// Tx is a transaction: the 13 fields of whitepaper §2.1 in their order
// (resolution 8.3). All amounts are base units.
type Tx struct {
	ChainID        uint64
	Nonce          uint64
	To             *Address // nil deploys an actor (resolution 11.43)
	Value          Wei
	CyclesLimit    Cycles
	CellsLimit     Cells
	MaxFeePerCycle Wei
	MaxFeePerCell  Wei
	TipPerCycle    Wei
	TipPerCell     Wei
	AccessList     []AccessEntry `cbor:"null,limit=MaxAccessEntries"` // nil encodes as null, an empty list as empty
	Payload        []byte        `cbor:"limit=MaxTxBytes"`
	Signature      *TxSignature  // nil only before signing
}

// AccessEntry names an account and storage keys that a transaction expects to
// touch. It is a hint for scheduling: a wrong list is refused, an incomplete
// one is not.
type AccessEntry struct {
	Address Address
	Keys    []Hash `cbor:"limit=MaxAccessKeys"` // strictly ascending
}

// TxSignature is a recoverable secp256k1 signature with low s over the signing
// hash (resolution 11.12).
type TxSignature struct {
	YParity uint8 `cbor:"most=1"` // 0 or 1
	R, S    [32]byte
}

// VerifiedTx is a transaction whose signature was recovered. Nothing in it
// changes after verification, so it is shared freely between goroutines.
type VerifiedTx struct {
	Tx     *Tx
	Body   []byte // the canonical CBOR encoding, without the length prefix
	Hash   Hash   // keccak256 of Body
	Sender Address
	Lane   LaneID // decided by (to, opcode), never by the sender (resolution 11.43)
	// Signers are who signed the results in the payload, in their order: zero where a
	// signature is nobody's. Nil where there are none, or nobody has recovered them
	// ([Tx.SignedResults]).
	Signers []Address
}

// HeldBytes returns the bytes of memory that whoever keeps the transaction keeps of what its
// sender chose the length of: its body, in which its payload lies, and the access list that
// was read out of it, which takes up to twice as much as its encoding.
func (v *VerifiedTx) HeldBytes() int {
	n := len(v.Body)
	for i := range v.Tx.AccessList {
		n += accessEntryBytes + len(v.Tx.AccessList[i].Keys)*len(Hash{})
	}
	return n
}

// accessEntryBytes is what an AccessEntry takes, without its keys.
const accessEntryBytes = 48
