package host

// Refusal is an error that the program sees: an exception of the SDK's table
// with this code, which it may catch.
type Refusal struct {
	Code string // one of the codes below
	Text string
}

// Error returns code and text.
func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

// The codes of refusals. The first two digits are the domain: 11 funds, 12
// permission, 13 limits, 14 what does not exist, 15 arguments, 16 the outcome of
// other code. Package sdk gives each a class (docs/sdk.md).
const (
	RefusedFunds       = "E1101" // balance or token balance too small
	RefusedAllowance   = "E1102" // what the owner approved is too small
	RefusedReserve     = "E1103" // the balance is held back for rent
	RefusedPermission  = "E1201" // the caller is not the one who may
	RefusedEntitlement = "E1202" // the manifest does not grant it
	RefusedReadOnly    = "E1203" // a call that only reads would change state
	RefusedFrozen      = "E1204" // the token account is frozen
	RefusedLimit       = "E1301" // a limit of the protocol is used up
	RefusedReentrancy  = "E1302" // calls are nested too deep, or guarded
	RefusedQuota       = "E1303" // the quota of an entitlement is used up
	RefusedStorage     = "E1304" // the actor's storage quota is used up
	RefusedMailbox     = "E1305" // the receiver's mailbox is full
	RefusedTarget      = "E1401" // no such actor, timer, job or token
	RefusedHandler     = "E1402" // the actor has no such handler
	RefusedDormant     = "E1403" // the actor is evicted
	RefusedArgument    = "E1501" // an argument that the chain does not take
	RefusedPast        = "E1502" // a height that is not in the future
	RefusedFailed      = "E1601" // the called handler failed
	RefusedJob         = "E1602" // the job failed
)

// Codes returns all codes in ascending order.
func Codes() []string {
	return []string{
		RefusedFunds, RefusedAllowance, RefusedReserve,
		RefusedPermission, RefusedEntitlement, RefusedReadOnly, RefusedFrozen,
		RefusedLimit, RefusedReentrancy, RefusedQuota, RefusedStorage, RefusedMailbox,
		RefusedTarget, RefusedHandler, RefusedDormant,
		RefusedArgument, RefusedPast, RefusedFailed, RefusedJob,
	}
}
