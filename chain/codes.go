package chain

// Codes of failed transactions. Receipts, storage and roots hold only the code
// (resolution 11.47), so a number keeps its meaning for ever; new ones are
// appended to their group. A transaction that may not stand in a block at all
// has no receipt and no code.
const (
	CodeOK uint16 = 0

	// Limits and money.
	CodeCyclesExhausted     uint16 = 1 // used up its cycles limit
	CodeCellsExhausted      uint16 = 2 // used up its cells limit
	CodeInsufficientBalance uint16 = 3 // the value exceeds the balance left after fees
	CodeBalanceOverflow     uint16 = 4 // the recipient's balance would exceed 64 bits
	CodeUnsupported         uint16 = 5 // a kind or an instruction that this version does not run

	// Actors.
	CodeReverted          uint16 = 20 // the handler raised an exception
	CodeNoCode            uint16 = 21 // a message to an account without code
	CodeNoHandler         uint16 = 22 // the actor has no handler of that name
	CodeDepthExceeded     uint16 = 23 // messages nested too deep (whitepaper §3.3)
	CodeFanoutExceeded    uint16 = 24 // more messages than one transaction may send
	CodeMemoryExceeded    uint16 = 25 // heap or /tmp limit
	CodeNotEntitled       uint16 = 26 // a call that the manifest does not allow
	CodeQuotaExceeded     uint16 = 27 // storage quota and bond used up
	CodeAddressTaken      uint16 = 28 // a deployment to an address that has code
	CodeCodeInvalid       uint16 = 29 // source that does not compile or breaks the dialect
	CodeManifest          uint16 = 30 // manifest refused at deployment
	CodeBalanceHeld       uint16 = 31 // balance grew without econ.hold_balance (resolution 11.25)
	CodeVMInternal        uint16 = 32 // E_VM_INTERNAL: a defect of the machine, the same on every node
	CodeEntitlementQuota  uint16 = 33 // ERR_ENTITLEMENT_QUOTA_EXCEEDED (entitlements §11)
	CodeEntitlementParam  uint16 = 34 // ERR_ENTITLEMENT_PARAM_INVALID
	CodeNonExecutable     uint16 = 35 // ERR_ACTOR_NON_EXECUTABLE: the manifest holds an entitlement that is gone
	CodeSystemEntitlement uint16 = 36 // ERR_SYSTEM_ENTITLEMENT_UNAUTHORIZED: sys.upgrade asked for by anyone else
	CodeNotCallable       uint16 = 37 // the handler is not for this sender
	CodeDormant           uint16 = 38 // the actor's storage is evicted
	CodeMailboxFull       uint16 = 39 // the receiver's mailbox takes no more
	CodeReadOnly          uint16 = 40 // a call that only reads would have changed something

	// System actors.
	CodeNotFound     uint16 = 50 // what the instruction names does not exist
	CodeExists       uint16 = 51 // what it creates exists already
	CodeForbidden    uint16 = 52 // the sender may not do this to it
	CodeWrongState   uint16 = 53 // too early, too late, or done already
	CodeBadArgument  uint16 = 54 // an argument out of its range
	CodeStakeTooLow  uint16 = 55 // below the minimum stake or deposit
	CodeLimitReached uint16 = 56 // no more of these per account, job or block
	CodeBadProof     uint16 = 57 // a signature, commitment or attestation that does not hold

	// Tokens.
	CodeTokenBalance   uint16 = 70 // more than the account holds
	CodeTokenAllowance uint16 = 71 // more than the owner has approved
	CodeTokenFrozen    uint16 = 72 // the account neither sends nor receives the token
	CodeTokenHook      uint16 = 73 // the token's hooks do not agree, or fail
)

// codeNames spells the codes as RPC and logs show them.
var codeNames = map[uint16]string{
	CodeOK:                  "ok",
	CodeCyclesExhausted:     "cycles_exhausted",
	CodeCellsExhausted:      "cells_exhausted",
	CodeInsufficientBalance: "insufficient_balance",
	CodeBalanceOverflow:     "balance_overflow",
	CodeUnsupported:         "unsupported",
	CodeReverted:            "reverted",
	CodeNoCode:              "no_code",
	CodeNoHandler:           "no_handler",
	CodeDepthExceeded:       "depth_exceeded",
	CodeFanoutExceeded:      "fanout_exceeded",
	CodeMemoryExceeded:      "memory_exceeded",
	CodeNotEntitled:         "not_entitled",
	CodeQuotaExceeded:       "quota_exceeded",
	CodeAddressTaken:        "address_taken",
	CodeCodeInvalid:         "code_invalid",
	CodeManifest:            "manifest_refused",
	CodeBalanceHeld:         "balance_held",
	CodeVMInternal:          "vm_internal",
	CodeEntitlementQuota:    "entitlement_quota_exceeded",
	CodeEntitlementParam:    "entitlement_param_invalid",
	CodeNonExecutable:       "actor_non_executable",
	CodeSystemEntitlement:   "system_entitlement_unauthorized",
	CodeNotCallable:         "not_callable",
	CodeDormant:             "dormant",
	CodeMailboxFull:         "mailbox_full",
	CodeReadOnly:            "read_only",
	CodeNotFound:            "not_found",
	CodeExists:              "exists",
	CodeForbidden:           "forbidden",
	CodeWrongState:          "wrong_state",
	CodeBadArgument:         "bad_argument",
	CodeStakeTooLow:         "stake_too_low",
	CodeLimitReached:        "limit_reached",
	CodeBadProof:            "bad_proof",
	CodeTokenBalance:        "token_balance",
	CodeTokenAllowance:      "token_allowance",
	CodeTokenFrozen:         "token_frozen",
	CodeTokenHook:           "token_hook",
}

// CodeName returns the name of a receipt's code, "unknown" for one this
// version does not have.
func CodeName(code uint16) string {
	if name, ok := codeNames[code]; ok {
		return name
	}
	return "unknown"
}
