package chain

// Validator is one member of the validator set as genesis and the staking
// actor record it (resolutions 1.6, 11.15, 11.42). It holds two BLS keys: the
// threshold share signs votes and seeds, the own key signs the order proof.
type Validator struct {
	PeerKey       PeerKey  // Ed25519 identity; the set is sorted by it
	BLSKey        [96]byte // own key, G2 compressed
	BLSPossession [48]byte // proof that the validator holds the secret of BLSKey
	ShareIndex    uint32   // position in the set and in the threshold polynomial
	PublicShare   [96]byte // the polynomial evaluated for ShareIndex
	Stake         Wei      // held at AddrStaking; weighs leader draws and rewards
	RewardAddress Address  // receives tips and issuance
}

// Quorum returns the number of votes that certify among n validators: n-f with
// f = floor((n-1)/3) of them faulty, which is 2f+1 when n = 3f+1. It is also
// the threshold of the group key. It is 0 for n < 1.
func Quorum(n int) int {
	if n < 1 {
		return 0
	}
	return n - (n-1)/3
}
