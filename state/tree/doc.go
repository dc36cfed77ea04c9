// Package tree computes the state root: it keeps accounts and their storage in
// secure Merkle-Patricia tries exactly as Ethereum does (yellow paper, appendix
// D; resolutions 8.15 and 11.32), and makes and checks proofs that existing
// Ethereum tooling reads.
//
// # Shape
//
//	state root ── trie of accounts:  keccak256(address) -> RLP(account)
//	                                       │ storage_root
//	              trie of its storage: keccak256(namespace ‖ key) -> RLP(value)
//
// Storage values are RLP strings, so that an empty value differs from none. A
// list (transactions or receipts of a block) has its own small trie under the
// RLP of each index; see [ListRoot].
//
// # Nodes
//
// A node is a leaf, an extension or a branch, encoded as RLP. Its parent holds
// its hash, or the encoding itself if that is shorter than 32 bytes.
//
// # Two implementations
//
// [Forest] is what the node runs on: all tries in memory, many versions sharing
// what they have in common. [Apply] and [Trie] are the plain version: nodes on
// the heap, one at a time, read from wherever they are stored and checked
// against the hash that their parent holds. They define what Forest must return
// and recompute roots where nothing depends on speed; [ListRoot] and the
// verification of proofs are built on them.
//
// # Ranges
//
// [VerifyRange] shows that consecutive entries are all that a trie holds between
// two keys: the piece in which state is handed to a node that joins. It decides
// as go-ethereum's trie.VerifyRangeProof does.
//
// # The forest
//
// A version of the state is an [Image]. Applying a block copies the records on
// the way to what changes and shares the rest:
//
//	image 7 ── top ── [.]─┬─[.]── leaf      records without Go pointers, linked
//	image 8 ── top'── [.]─┘ [.]── leaf'     by number, in sixteen pools
//
// An image knows which records of its parent it does not share. They are taken
// back when no older version is read any more ([Forest.Retire]); what a dropped
// image made is taken back at once ([Forest.Release]). Account leaves hold the
// account and the root record of its storage trie, so that a state is one
// record number, and reads of any version go down one trie.
//
// Apply works in phases, each shared by workers that are joined before it
// returns:
//
//	hash the addresses ── for each actor with writes: hash slot keys, sort
//	  ── storage tries, and whales split by first nibble ── accounts, split
//	  by first nibble ── the top branch
//
// In each phase a worker first changes the shape of the subtries it took, then
// hashes: all leaves in batches, then branches from the deepest level up, so
// that a batch holds nodes of many tries and fills the lanes of
// keccak.SumMany. Work is divided by nibble and never by the number of workers;
// records go to the pool of the nibble: root, rows and even record numbers are
// the same for any number.
//
// # Memory
//
// An account takes about 145 bytes with its share of branches, of which its key
// and its value are 43. Freed records are used again by size; a chunk of 64 KiB without
// records serves any size, and where little of each is in use, records are moved together
// (move.go): the tries take at most two and a half times what records took at most, and
// 256 MiB. Chunks are cut from pieces of up to 32 MiB, for large pages. Records of vast storage
// tries have chunks of their own, so that what most blocks rewrite stays close
// together beside gigabytes of what sleeps. References of 40 bits name 16 TiB
// ([Forest.Use]): memory ends before they do.
//
// Memory may be that of the operating system: nothing but the Forest keeps it, so
// every reader holds the Forest until it has copied what it returns.
//
// [Forest.Load] builds an image from flat values. A storage that is too large to be
// held as values is gathered as a [Sheaf] before.
//
// Tried without gain: reading free records ahead of their use, and all links of a
// branch ahead of its copying (3 % at best, within the noise); branches without key, which would save 11 bytes an account, but have
// to be moved when a merge above gives them a longer path.
package tree
