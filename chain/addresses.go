//spec:implements resolutions 4
//spec:implements whitepaper 1.1-1.3, 9

package chain

import "encoding/binary"

// Addresses of the system actors (resolutions 4.1-4.5, 11.46). The Runner
// Registry to the Entitlement Registry are CIP-2's table; the rest are free
// there and chosen here.
var (
	AddrRunnerRegistry = SystemAddress(0x01)
	AddrJobDispatcher  = SystemAddress(0x02)
	AddrResultVerifier = SystemAddress(0x03)
	AddrSecrets        = SystemAddress(0x04)
	AddrTEEVerifier    = SystemAddress(0x05)
	AddrReserved       = SystemAddress(0x06) // refuses everything (resolution 4.3)
	AddrEntitlements   = SystemAddress(0x07)
	AddrTreasury       = SystemAddress(0x08)
	AddrGovernance     = SystemAddress(0x09)
	AddrEventListener  = SystemAddress(0x15)
	AddrTokens         = SystemAddress(0x16)
	AddrStaking        = SystemAddress(0x17) // holds the validators' stakes
	AddrActors         = SystemAddress(0x18) // what owners do with their actors, timers included; keeps the actors' records
	AddrTimers         = SystemAddress(0x19) // keeps the timers, their deposits and escrows
	AddrMailbox        = SystemAddress(0x1a) // keeps the messages that wait, with their value
	AddrRent           = SystemAddress(0x1b) // keeps what is known of actors' rent, and bonds
	AddrTimersFar      = SystemAddress(0x1c) // keeps the timers that are not near; their money is with AddrTimers
)

// LastSystemAddress ends the reserved range, which begins at 1 (resolution 4.4).
const LastSystemAddress = 0x100

// SystemAddress returns the address with the given number.
func SystemAddress(n uint16) Address {
	var a Address
	binary.BigEndian.PutUint16(a[18:], n)
	return a
}

// IsSystem reports whether a lies in the reserved range 1 to 0x100, where only
// system actors live. Plain transfers among these reach [AddrTreasury] alone.
func (a Address) IsSystem() bool {
	for _, b := range a[:18] {
		if b != 0 {
			return false
		}
	}
	n := binary.BigEndian.Uint16(a[18:])
	return n >= 1 && n <= LastSystemAddress
}
