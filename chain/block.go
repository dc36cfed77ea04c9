package chain

// HeaderVersion is the version of [Header] this code reads and writes.
const HeaderVersion = 1

// Header commits a block. Every field is inside the digest, so nothing that
// execution or a light client relies on can change after the votes.
type Header struct {
	Version         uint64
	Parent          Hash // digest of the parent's header; the genesis hash at height 1
	Height          Height
	Epoch           Epoch
	View            View
	ParentEpoch     Epoch    // round in which the parent was proposed
	ParentView      View     // likewise
	ParentSeed      [48]byte // threshold seed of the parent's round; zero at height 1 (resolution 11.8)
	TimestampMillis uint64   // strictly above the parent's
	Proposer        PeerKey
	TxRoot          Hash
	BodyRoot        Hash // commits to the shards of the encoded bodies; zero if they travel whole (consensus/shards)
	ReceiptsRoot    Hash
	StateRoot       Hash
	BaseFees        [NumLanes]FeePair // in force in this block (resolution 11.26)
	Used            [NumLanes]Usage   // paid for in this block: deliveries were when they were sent (ADR 126)
	PresenceInput   []byte            `cbor:"limit=MaxPresenceBytes"`      // PresenceInputV1, literal bytes (CIP-11 §7.2)
	ConsumedSeeds   []byte            `cbor:"limit=MaxConsumedSeedsBytes"` // ConsumedSeedsV1, canonical CBOR (CIP-11 §9.2)
	OrderProof      [48]byte          // proposer's VRF proof of the order (resolution 11.41)
}

// PeerKey is a validator's Ed25519 identity key (resolution 1.6).
type PeerKey [32]byte

// Block is a header with the bodies of its transactions in execution order.
type Block struct {
	Header Header
	Txs    [][]byte // canonical CBOR bodies, without length prefixes
}

// MaxFinalBytes bounds what a node stores of a finalized block in one record:
// the block, its certificate, the hashes and senders of its transactions and its
// receipts.
// Every genesis keeps below it, see params.Params.FinalBytesMax.
const MaxFinalBytes = 1 << 30
