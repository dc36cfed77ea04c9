//spec:implements entitlements 10, 11

package chain

// Codes of failed transactions. Receipts, storage and roots hold only the code
// (resolution 11.47), so a number keeps its meaning for ever; new ones are
// appended to their group. A transaction that may not stand in a block at all
// has no receipt and no code. CodeMeaning says what each means.
const (
	CodeOK uint16 = 0

	// Limits and money.
	CodeCyclesExhausted     uint16 = 1
	CodeCellsExhausted      uint16 = 2
	CodeInsufficientBalance uint16 = 3
	CodeBalanceOverflow     uint16 = 4
	CodeUnsupported         uint16 = 5

	// Actors.
	CodeReverted          uint16 = 20
	CodeNoCode            uint16 = 21
	CodeNoHandler         uint16 = 22
	CodeDepthExceeded     uint16 = 23 // whitepaper §3.3
	CodeFanoutExceeded    uint16 = 24
	CodeMemoryExceeded    uint16 = 25
	CodeNotEntitled       uint16 = 26
	CodeQuotaExceeded     uint16 = 27
	CodeAddressTaken      uint16 = 28
	CodeCodeInvalid       uint16 = 29
	CodeManifest          uint16 = 30
	CodeBalanceHeld       uint16 = 31 // resolution 11.25
	CodeVMInternal        uint16 = 32 // E_VM_INTERNAL
	CodeEntitlementQuota  uint16 = 33 // ERR_ENTITLEMENT_QUOTA_EXCEEDED (entitlements §11)
	CodeEntitlementParam  uint16 = 34 // ERR_ENTITLEMENT_PARAM_INVALID
	CodeNonExecutable     uint16 = 35 // ERR_ACTOR_NON_EXECUTABLE
	CodeSystemEntitlement uint16 = 36 // ERR_SYSTEM_ENTITLEMENT_UNAUTHORIZED
	CodeNotCallable       uint16 = 37
	CodeDormant           uint16 = 38
	CodeMailboxFull       uint16 = 39
	CodeReadOnly          uint16 = 40

	// System actors.
	CodeNotFound     uint16 = 50
	CodeExists       uint16 = 51
	CodeForbidden    uint16 = 52
	CodeWrongState   uint16 = 53
	CodeBadArgument  uint16 = 54
	CodeStakeTooLow  uint16 = 55
	CodeLimitReached uint16 = 56
	CodeBadProof     uint16 = 57

	// Tokens.
	CodeTokenBalance   uint16 = 70
	CodeTokenAllowance uint16 = 71
	CodeTokenFrozen    uint16 = 72
	CodeTokenHook      uint16 = 73
)

// codeTexts spells the codes as RPC and logs show them, and tells people what they
// mean.
var codeTexts = map[uint16]struct{ name, meaning string }{
	CodeOK:                  {"ok", "it did what was asked"},
	CodeCyclesExhausted:     {"cycles_exhausted", "used up its cycles limit"},
	CodeCellsExhausted:      {"cells_exhausted", "used up its cells limit"},
	CodeInsufficientBalance: {"insufficient_balance", "the value exceeds the balance left after fees"},
	CodeBalanceOverflow:     {"balance_overflow", "the recipient's balance would exceed 64 bits"},
	CodeUnsupported:         {"unsupported", "a kind or an instruction that this version does not run"},
	CodeReverted:            {"reverted", "the handler raised an exception"},
	CodeNoCode:              {"no_code", "a message to an account without code"},
	CodeNoHandler:           {"no_handler", "the actor has no handler of that name"},
	CodeDepthExceeded:       {"depth_exceeded", "messages nested too deep"},
	CodeFanoutExceeded:      {"fanout_exceeded", "more messages than one transaction may send"},
	CodeMemoryExceeded:      {"memory_exceeded", "the heap or /tmp is at its limit"},
	CodeNotEntitled:         {"not_entitled", "a call that the manifest does not allow"},
	CodeQuotaExceeded:       {"quota_exceeded", "storage quota and bond are used up"},
	CodeAddressTaken:        {"address_taken", "there is an actor of this code, creator and salt already"},
	CodeCodeInvalid:         {"code_invalid", "source that does not compile or breaks the dialect"},
	CodeManifest:            {"manifest_refused", "the manifest was refused"},
	CodeBalanceHeld:         {"balance_held", "the actor may not keep money: its manifest has no econ.hold_balance"},
	CodeVMInternal:          {"vm_internal", "a defect of the Python machine, the same on every node"},
	CodeEntitlementQuota:    {"entitlement_quota_exceeded", "the quota of an entitlement is used up"},
	CodeEntitlementParam:    {"entitlement_param_invalid", "outside the parameters of an entitlement"},
	CodeNonExecutable:       {"actor_non_executable", "the manifest holds an entitlement that is gone"},
	CodeSystemEntitlement:   {"system_entitlement_unauthorized", "sys.upgrade is for system deployers"},
	CodeNotCallable:         {"not_callable", "the handler is not for this sender"},
	CodeDormant:             {"dormant", "the actor's storage is evicted until it is restored"},
	CodeMailboxFull:         {"mailbox_full", "as many of the sender's messages wait for the receiver, or of the origin's for the height, as may be"},
	CodeReadOnly:            {"read_only", "a call that only reads would have changed something"},
	CodeNotFound:            {"not_found", "what the instruction names does not exist"},
	CodeExists:              {"exists", "what it creates exists already"},
	CodeForbidden:           {"forbidden", "the sender may not do this to it"},
	CodeWrongState:          {"wrong_state", "too early, too late, or done already"},
	CodeBadArgument:         {"bad_argument", "an argument out of its range"},
	CodeStakeTooLow:         {"stake_too_low", "below the minimum stake or deposit"},
	CodeLimitReached:        {"limit_reached", "no more of these per account, job or block"},
	CodeBadProof:            {"bad_proof", "a signature, commitment or attestation that does not hold"},
	CodeTokenBalance:        {"token_balance", "more than the account holds"},
	CodeTokenAllowance:      {"token_allowance", "more than the owner has approved"},
	CodeTokenFrozen:         {"token_frozen", "the account neither sends nor receives the token"},
	CodeTokenHook:           {"token_hook", "the token's hooks do not agree, or fail"},
}

// CodeName returns the name of a receipt's code, "unknown" for one this
// version does not have.
func CodeName(code uint16) string {
	if text, ok := codeTexts[code]; ok {
		return text.name
	}
	return "unknown"
}

// CodeMeaning says in a few words what a receipt's code means, "" for one this
// version does not have.
func CodeMeaning(code uint16) string { return codeTexts[code].meaning }
