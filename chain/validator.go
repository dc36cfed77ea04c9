package chain

import (
	"bytes"
	"errors"
	"fmt"
)

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

// checkValidators holds a set to its order and to what can be told without
// curve arithmetic; the keys themselves are checked by package chain/ceremony.
func checkValidators(set []Validator, minStake Wei) error {
	seen := make(map[[96]byte]int, 2*len(set))
	for i := range set {
		v := &set[i]
		fail := func(format string, args ...any) error {
			return fmt.Errorf("validators[%d].%s", i, fmt.Sprintf(format, args...))
		}
		switch {
		case v.PeerKey == PeerKey{}:
			return fail("peer_key is zero")
		case i > 0 && bytes.Compare(set[i-1].PeerKey[:], v.PeerKey[:]) >= 0:
			return fail("peer_key is not above its predecessor's: validators are sorted by it")
		case v.ShareIndex != uint32(i):
			return fail("share_index = %d, want %d", v.ShareIndex, i)
		case v.Stake < minStake:
			return fail("stake = %d below staking.min_validator_stake %d", v.Stake, minStake)
		case v.RewardAddress == Address{} || v.RewardAddress.IsSystem():
			return fail("reward_address %v is reserved", v.RewardAddress)
		case !compressedPoint(v.BLSKey[:]):
			return fail("bls_key is not a compressed point")
		case !compressedPoint(v.BLSPossession[:]):
			return fail("bls_possession is not a compressed point")
		case !compressedPoint(v.PublicShare[:]):
			return fail("public_share is not a compressed point")
		}
		if j, twice := seen[v.BLSKey]; twice {
			return fail("bls_key is also that of validators[%d]", j)
		}
		seen[v.BLSKey] = i
	}
	return nil
}

// checkGroup holds the group key to the set: one coefficient per vote of a
// quorum, the first of them being the group key.
func checkGroup(groupKey [96]byte, polynomial [][96]byte, validators int) error {
	if want := Quorum(validators); len(polynomial) != want {
		return fmt.Errorf("polynomial has %d points, want %d for %d validators", len(polynomial), want, validators)
	}
	for i, point := range polynomial {
		if !compressedPoint(point[:]) {
			return fmt.Errorf("polynomial[%d] is not a compressed point", i)
		}
	}
	if polynomial[0] != groupKey {
		return errors.New("group_key differs from polynomial[0]")
	}
	return nil
}

// compressedPoint reports whether b carries the compression flag of a
// BLS12-381 point other than infinity. It is a cheap guard against swapped
// fields, not a proof of membership.
func compressedPoint(b []byte) bool { return b[0]&0xc0 == 0x80 }
