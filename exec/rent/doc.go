//spec:implements resolutions 3
//spec:implements whitepaper 12.3-12.5, 17.1, 17.3, 17.4, 17.5, 17.8, 17.9, 17.10, 4.4

// Package rent is what keeping state costs, and what happens to those who do not
// pay (whitepaper, "State Rent Model" to "Storage Restoration", §17.5;
// resolutions 3.1-3.5, 11.35). How a storage leaves the state and comes back is
// package state/rent's.
//
// In: an overlay, the parameters, the height. Out: writes on the overlay, and a
// [Work] that says what was burned and what is to be announced; or a verdict; any
// other error is a fault.
//
// # Life of an actor's rent
//
//	≤ exempt bytes ── nothing is known of it
//	     │ End: it has grown
//	     ▼
//	  listed ── Begin, a day later and each day: prepaid, then balance
//	     │ neither covers it
//	     ▼
//	  grace ── 168 epochs ──► warning ── 72, and one ──► evicted: dormant
//	     ▲ missed rent and a tenth paid: listed again
//
// # Bounded work
//
// Nothing looks at all actors (TestWorkIsFlat counts). Who owes rent stands in a
// queue, each with the height from which its next charge counts; the delay is the
// same for all, so the queue is in the order of its heights, and stays so when
// governance changes the delay, which holds for who waits already. The same holds for
// warnings and evictions, which end sooner where the evicted had many timers. Of each
// queue a block serves a bounded number; what is left waits for the next one and owes
// no less for that day, and its next day begins no earlier than that of who was listed
// meanwhile. An item counts only as long as the actor's record names its height:
// eviction and restoration leave old ones behind, which are dropped when they come.
//
// # Money
//
// Rent is burned: nobody gains when others' state grows. Bonds are kept at
// [chain.AddrRent] and come back. What is prepaid is an amount, taken and burned
// at once; the epochs it lasts follow from the present size and rate, so that
// nobody buys years for a storage that is still empty.
//
// The package is pure.
package rent
