package genesis

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// checkValidators holds a set to its order and to what can be told without
// curve arithmetic; the keys themselves are checked by package chain/ceremony.
func checkValidators(set []chain.Validator, minStake chain.Wei) error {
	seen := make(map[[96]byte]int, 2*len(set))
	for i := range set {
		v := &set[i]
		fail := func(format string, args ...any) error {
			return fmt.Errorf("validators[%d].%s", i, fmt.Sprintf(format, args...))
		}
		switch {
		case v.PeerKey == chain.PeerKey{}:
			return fail("peer_key is zero")
		case i > 0 && bytes.Compare(set[i-1].PeerKey[:], v.PeerKey[:]) >= 0:
			return fail("peer_key is not above its predecessor's: validators are sorted by it")
		case v.ShareIndex != uint32(i):
			return fail("share_index = %d, want %d", v.ShareIndex, i)
		case v.Stake < minStake:
			return fail("stake = %d below staking.min_validator_stake %d", v.Stake, minStake)
		case v.RewardAddress == chain.Address{} || v.RewardAddress.IsSystem():
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
	if want := chain.Quorum(validators); len(polynomial) != want {
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
