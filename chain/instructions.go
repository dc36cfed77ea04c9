package chain

import "slices"

// This file is the table of everything a transaction can be: resolution 11.12
// wants every (to, opcode) in one place. docs/transactions.md is generated from
// it.
//
// The numbers 10-20, 30-35, 41, 43, 45-50, 60 and 68-72 are those of the public tables
// (CIP-2 §7.2, CIP-20 and the deployed node); 1-9, 21-29, 61 and 90-110 are ours. No
// number is used at two addresses, so a log line with an opcode is unambiguous.

// transferSpec, deploySpec and messageSpec are the rows that have no opcode.
var (
	transferSpec = InstructionSpec{
		Kind: KindTransfer, Name: "transfer", Lane: LaneUser, Cost: CostTransfer, Executable: true,
		Note: "target has no code and any payload is a memo, or has code and there is no payload: then the value is credited and nothing runs",
	}
	deploySpec = InstructionSpec{
		Kind: KindDeploy, Name: "deploy", Lane: LaneUser, Cost: CostDeploy, Executable: true,
		Args: []Arg{{"source", ArgBytes, false}, {"salt", ArgSalt, false}, {"manifest", ArgAny, false}, {"init", ArgMessage, true}},
		Note: "no target; the payload is the array of the arguments",
	}
	messageSpec = InstructionSpec{
		Kind: KindMessage, Name: "message", Lane: LaneUser, Cost: CostMessage, Executable: true,
		Args: []Arg{{"handler", ArgHandler, false}, {"argument", ArgBytes, false}},
		Note: "target has code; the payload is the array of the arguments, the last of which encodes what the handler reads",
	}
)

// OpEvidenceSubmit is the opcode at [AddrStaking] that convicts a validator of
// contradicting itself.
const OpEvidenceSubmit = 94

// Opcodes at [AddrRent].
const (
	OpRentPrepay    = 96
	OpRestoreBegin  = 97
	OpRestorePut    = 98
	OpRestoreCommit = 99
	OpRestoreAbort  = 100
	OpRestoreAllow  = 110
)

// The opcodes at [AddrTokens] (CIP-20).
const (
	OpTokenCreate       = 10
	OpTokenTransfer     = 11
	OpTokenTransferFrom = 12
	OpTokenApprove      = 13
	OpTokenMint         = 14
	OpTokenBurn         = 15
	OpTokenFreeze       = 16
	OpTokenUnfreeze     = 17
	OpTokenOwner        = 18
	OpTokenHooks        = 19
	OpTokenBatch        = 20
)

// Opcodes at [AddrRunnerRegistry].
const (
	OpRunnerRegister   = 1
	OpRunnerHeartbeat  = 2
	OpRunnerUpdate     = 3
	OpRunnerDeregister = 4
	OpRunnerUnstake    = 21
	OpRunnerWithdraw   = 22
	OpRunnerPause      = 23
	OpRunnerAttest     = 24
	OpRunnerReturn     = 25
	OpModelPublish     = 28
	OpModelWithdraw    = 29
)

// Opcodes at [AddrJobDispatcher] and [AddrResultVerifier].
const (
	OpJobSubmit    = 5
	OpJobCancel    = 6
	OpResultCommit = 7
	OpResultReveal = 8
	OpResultSubmit = 9
	OpChallenge    = 26
)

// Opcodes at [AddrSecrets] and [AddrTEEVerifier].
const (
	OpTEERegister   = 60
	OpTEEDrop       = 61
	OpSecretStore   = 68
	OpSecretDelete  = 69
	OpSecretRequest = 70
	OpSecretRelease = 71
	OpHolderSet     = 72
)

// The opcodes at [AddrActors] that give an actor money and other source.
const (
	OpActorFund    = 41
	OpActorUpgrade = 43
)

// The opcodes at [AddrActors] with which the creator of an actor sees to its
// timers.
const (
	OpTimerCancel   = 48
	OpTimerConfig   = 49
	OpTimerExtend   = 50
	OpTimerSchedule = 95
)

// The opcodes at [AddrEntitlements] (CIP-2 §7.2).
const (
	OpEntitlementGrant    = 30
	OpEntitlementRevoke   = 31
	OpEntitlementDelegate = 32
	OpRoleCreate          = 33
	OpRoleAssign          = 34
	OpRoleRevoke          = 35
)

// Opcodes at [AddrGovernance].
const (
	OpGovernancePropose = 45
	OpGovernanceApprove = 46
	OpGovernanceExecute = 47
)

// systemInstructions holds the rows with an opcode, by address and opcode.
var systemInstructions = []InstructionSpec{
	// Runner Registry (CIP-2 §4, CIP-11 §8.3).
	system(AddrRunnerRegistry, OpRunnerRegister, "runner_register").runs().args(Arg{"max_job_value", ArgUint, false}, Arg{"rate_card", ArgMap, false}, Arg{"capabilities", ArgMap, false}, Arg{"attestation", ArgMap, true}, Arg{"endpoint", ArgText, false}).note("the value is the stake"),
	system(AddrRunnerRegistry, OpRunnerHeartbeat, "runner_heartbeat").runs().in(LaneRunner, SenderRunner).costs(CostHeartbeat),
	system(AddrRunnerRegistry, OpRunnerUpdate, "runner_update").runs().in(LaneUser, SenderRunner).args(Arg{"max_job_value", ArgUint, true}, Arg{"rate_card", ArgMap, true}, Arg{"capabilities", ArgMap, true}, Arg{"attestation", ArgMap, true}, Arg{"endpoint", ArgText, true}).note("what is null stays; any value adds to the stake"),
	system(AddrRunnerRegistry, OpRunnerDeregister, "runner_deregister").runs().drains(MeansRole).in(LaneUser, SenderRunner).note("while no job is under way; all stake begins to unbond"),
	system(AddrRunnerRegistry, OpRunnerUnstake, "runner_unstake").runs().in(LaneUser, SenderRunner).args(Arg{"amount", ArgUint, false}).note("free after runner.unbonding_blocks"),
	system(AddrRunnerRegistry, OpRunnerWithdraw, "runner_withdraw").runs().note("pays all that is free; also to who has deregistered"),
	system(AddrRunnerRegistry, OpRunnerPause, "runner_pause").runs().in(LaneUser, SenderRunner).args(Arg{"paused", ArgBool, false}),
	system(AddrRunnerRegistry, OpRunnerAttest, "runner_attest").runs().in(LaneUser, SenderRunner).args(Arg{"attestation", ArgMap, false}),
	system(AddrRunnerRegistry, OpRunnerReturn, "runner_return").runs().in(LaneUser, SenderRunner).note("once for each fall of the reputation below the minimum, runner.return_blocks after it (resolution 12.5)"),
	system(AddrRunnerRegistry, OpModelPublish, "model_publish").args(Arg{"model_id", ArgHash, false}, Arg{"text", ArgText, false}).note("the value is the deposit"),
	system(AddrRunnerRegistry, OpModelWithdraw, "model_withdraw").args(Arg{"model_id", ArgHash, false}),
	system(AddrRunnerRegistry, 90, "presence_certificate").in(LaneRunner, SenderRunner).args(Arg{"runner", ArgAddress, false}, Arg{"height", ArgUint, false}, Arg{"receipts", ArgList, false}),

	// Job Dispatcher (CIP-2 §3; resolution 11.5).
	system(AddrJobDispatcher, OpJobSubmit, "job_submit").runs().costs(CostJobSubmit).args(Arg{"spec", ArgMap, false}, Arg{"terms", ArgMap, false}).note("JobSpecV1 and JobTermsV1; the value is the escrow, max_price + tip; answers the job's id"),
	system(AddrJobDispatcher, OpJobCancel, "job_cancel").runs().args(Arg{"job_id", ArgHash, false}).note("by the submitter, while no runner is assigned"),

	// Result Verifier (CIP-2 §8; resolutions 11.1, 11.29).
	system(AddrResultVerifier, OpResultCommit, "result_commit").runs().in(LaneRunner, SenderAssignedRunner).args(Arg{"job_id", ArgHash, false}, Arg{"commitment", ArgHash, false}),
	system(AddrResultVerifier, OpResultReveal, "result_reveal").runs().in(LaneRunner, SenderAssignedRunner).args(Arg{"job_id", ArgHash, false}, Arg{"result", ArgBytes, false}, Arg{"runner_sig", ArgBytes, false}).note("RunnerResultV1 and 65 bytes"),
	system(AddrResultVerifier, OpResultSubmit, "result_submit").runs().in(LaneRunner, SenderAssignedRunner).args(Arg{"job_id", ArgHash, false}, Arg{"reveals", ArgList, false}).note("[runner, result, runner_sig] of several runners, as the aggregator has them"),
	system(AddrResultVerifier, OpChallenge, "challenge").args(Arg{"job_id", ArgHash, false}, Arg{"kind", ArgUint, false}, Arg{"evidence", ArgBytes, false}).note("the value is the bond"),

	// Secrets Manager (resolutions 11.10, 12.61).
	system(AddrSecrets, OpSecretStore, "secret_store").args(Arg{"name", ArgText, false}, Arg{"version", ArgUint, false}, Arg{"policy", ArgMap, false}, Arg{"sealed", ArgBytes, false}, Arg{"shares", ArgList, false}),
	system(AddrSecrets, OpSecretDelete, "secret_delete").args(Arg{"name", ArgText, false}),
	system(AddrSecrets, OpSecretRequest, "secret_request").in(LaneRunner, SenderAssignedRunner).args(Arg{"job_id", ArgHash, false}, Arg{"name", ArgText, false}, Arg{"nonce", ArgBytes, false}, Arg{"enclave_sig", ArgBytes, false}),
	system(AddrSecrets, OpSecretRelease, "secret_release").in(LaneSystem, SenderReleaser).args(Arg{"job_id", ArgHash, false}, Arg{"name", ArgText, false}, Arg{"sealed", ArgBytes, false}),
	system(AddrSecrets, OpHolderSet, "holder_set").in(LaneSystem, SenderValidator).args(Arg{"key", ArgHash, false}, Arg{"releaser", ArgAddress, false}),

	// TEE Verifier (resolutions 12.59, 12.60).
	system(AddrTEEVerifier, OpTEERegister, "tee_register").in(LaneUser, SenderRunner).args(Arg{"type", ArgText, false}, Arg{"evidence", ArgBytes, false}, Arg{"hpke_key", ArgBytes, false}, Arg{"sign_key", ArgBytes, false}),
	system(AddrTEEVerifier, OpTEEDrop, "tee_drop").in(LaneUser, SenderRunner),

	// Entitlement Registry (CIP-2 §7.2).
	system(AddrEntitlements, OpEntitlementGrant, "entitlement_grant").runs().args(Arg{"grantee", ArgAddress, false}, Arg{"scope", ArgBytes, false}, Arg{"action", ArgBytes, false}, Arg{"constraints", ArgBytes, false}).note("by who answers for the scope: an actor's creator, a token's owner, a runner, the first to grant in a pool or a namespace; governance by a proposal"),
	system(AddrEntitlements, OpEntitlementRevoke, "entitlement_revoke").runs().args(Arg{"entitlement_id", ArgHash, false}).note("by who has it, made it, or answers for its scope"),
	system(AddrEntitlements, OpEntitlementDelegate, "entitlement_delegate").runs().args(Arg{"entitlement_id", ArgHash, false}, Arg{"delegatee", ArgAddress, false}, Arg{"constraints", ArgBytes, false}).note("by who has it; constraints narrower in every field that its own bound"),
	system(AddrEntitlements, OpRoleCreate, "entitlement_create_role").runs().args(Arg{"name", ArgBytes, false}, Arg{"scopes", ArgBytes, false}, Arg{"actions", ArgBytes, false}, Arg{"constraints", ArgBytes, false}),
	system(AddrEntitlements, OpRoleAssign, "entitlement_assign_role").runs().args(Arg{"role_id", ArgHash, false}, Arg{"assignee", ArgAddress, false}).note("by the role's creator, who answers for all of its scopes"),
	system(AddrEntitlements, OpRoleRevoke, "entitlement_revoke_role").runs().args(Arg{"role_id", ArgHash, false}, Arg{"assignee", ArgAddress, false}).note("by who has it, the role's creator, or who answers for one of its scopes"),

	// Governance (resolution 11.11).
	system(AddrGovernance, OpGovernancePropose, "governance_propose").runs().in(LaneSystem, SenderGovernance).args(Arg{"action", ArgList, false}, Arg{"emergency", ArgBool, false}),
	system(AddrGovernance, OpGovernanceApprove, "governance_approve").runs().in(LaneSystem, SenderGovernance).args(Arg{"proposal_id", ArgHash, false}),
	system(AddrGovernance, OpGovernanceExecute, "governance_execute").runs().in(LaneSystem, SenderGovernance).args(Arg{"proposal_id", ArgHash, false}),

	// Tokens (resolution 11.46; operations of CIP-20).
	system(AddrTokens, OpTokenCreate, "token_create").runs().args(Arg{"name", ArgText, false}, Arg{"symbol", ArgText, false}, Arg{"decimals", ArgUint, false}, Arg{"initial_supply", ArgAmount, false}, Arg{"max_supply", ArgAmount, true}, Arg{"hooks", ArgAddress, true}),
	system(AddrTokens, OpTokenTransfer, "token_transfer").runs().args(Arg{"token_id", ArgHash, false}, Arg{"to", ArgAddress, false}, Arg{"amount", ArgAmount, false}),
	system(AddrTokens, OpTokenTransferFrom, "token_transfer_from").runs().args(Arg{"token_id", ArgHash, false}, Arg{"from", ArgAddress, false}, Arg{"to", ArgAddress, false}, Arg{"amount", ArgAmount, false}),
	system(AddrTokens, OpTokenApprove, "token_approve").runs().args(Arg{"token_id", ArgHash, false}, Arg{"spender", ArgAddress, false}, Arg{"amount", ArgAmount, false}),
	system(AddrTokens, OpTokenMint, "token_mint").runs().args(Arg{"token_id", ArgHash, false}, Arg{"to", ArgAddress, false}, Arg{"amount", ArgAmount, false}),
	system(AddrTokens, OpTokenBurn, "token_burn").runs().args(Arg{"token_id", ArgHash, false}, Arg{"amount", ArgAmount, false}),
	system(AddrTokens, OpTokenFreeze, "token_freeze").runs().args(Arg{"token_id", ArgHash, false}, Arg{"account", ArgAddress, false}),
	system(AddrTokens, OpTokenUnfreeze, "token_unfreeze").runs().args(Arg{"token_id", ArgHash, false}, Arg{"account", ArgAddress, false}),
	system(AddrTokens, OpTokenOwner, "token_transfer_ownership").runs().args(Arg{"token_id", ArgHash, false}, Arg{"owner", ArgAddress, true}),
	system(AddrTokens, OpTokenHooks, "token_set_hooks").runs().args(Arg{"token_id", ArgHash, false}, Arg{"hooks", ArgAddress, true}),
	system(AddrTokens, OpTokenBatch, "token_batch_transfer").runs().args(Arg{"token_id", ArgHash, false}, Arg{"transfers", ArgList, false}).note("1 to 256 pairs of receiver and amount"),

	// Staking (whitepaper §7; resolutions 11.2, 11.3, 11.43).
	system(AddrStaking, 91, "validator_register").in(LaneSystem, SenderCandidate).args(Arg{"peer_key", ArgHash, false}, Arg{"bls_key", ArgBytes, false}, Arg{"bls_possession", ArgBytes, false}, Arg{"reward_address", ArgAddress, false}).note("the value is the stake"),
	system(AddrStaking, 92, "validator_exit").in(LaneSystem, SenderValidator),
	system(AddrStaking, 93, "validator_unjail").in(LaneSystem, SenderValidator),
	system(AddrStaking, OpEvidenceSubmit, "evidence_submit").runs().in(LaneSystem, SenderValidator).args(Arg{"first", ArgBytes, false}, Arg{"second", ArgBytes, false}).note("two conflicting votes of one validator in a view not above the block's, each peer key ‖ kind ‖ subject ‖ signature; in ascending order"),

	// Rent (whitepaper, "State Rent Model"; resolution 3).
	system(AddrRent, OpRentPrepay, "rent_prepay").runs().drains(MeansFunds).args(Arg{"actor", ArgAddress, false}, Arg{"epochs", ArgUint, false}).note("anybody's, out of the sender's balance; arrears first"),
	system(AddrRent, OpRestoreBegin, "restore_begin").runs().drains(MeansFunds).args(Arg{"actor", ArgAddress, false}, Arg{"deadline", ArgUint, false}).note("takes a bond that only the commit returns; lapses after rent.restore_idle_blocks without a part of 16 KiB, or the last"),
	system(AddrRent, OpRestorePut, "restore_put").runs().args(Arg{"actor", ArgAddress, false}, Arg{"entries", ArgList, false}).note("[key, value] in ascending order of keccak256(key), charged as a write of their bytes and a hash of each key"),
	system(AddrRent, OpRestoreCommit, "restore_commit").runs().drains(MeansFunds).args(Arg{"actor", ArgAddress, false}, Arg{"payer", ArgAddress, true}).note("in a block after the last entries; missed rent is paid by the sender, or by a payer that allowed it; the sender's bond comes back"),
	system(AddrRent, OpRestoreAbort, "restore_abort").runs().args(Arg{"actor", ArgAddress, false}).note("by who began it, or anybody once it lapsed or proved to be wrong; burns the bond"),
	system(AddrRent, OpRestoreAllow, "restore_allow").runs().args(Arg{"restorer", ArgAddress, false}, Arg{"actor", ArgAddress, false}, Arg{"max_amount", ArgUint, false}, Arg{"expiry", ArgUint, false}).note("the sender pays for the restoration, once and up to the height; 0 takes it back"),

	// Actors and their timers, by their owners.
	system(AddrActors, OpActorFund, "actor_fund").runs().args(Arg{"actor", ArgAddress, false}).note("the value goes to the actor without a message"),
	system(AddrActors, OpActorUpgrade, "actor_upgrade").runs().args(Arg{"actor", ArgAddress, false}, Arg{"source", ArgBytes, false}).note("by the system deployer that made it, of an actor with sys.upgrade (resolution 8.2); the manifest never changes"),
	system(AddrActors, OpTimerCancel, "timer_cancel").runs().args(Arg{"actor", ArgAddress, false}, Arg{"timer_id", ArgHash, false}).note("by the actor's creator, of a timer that it or the actor has set; deposit and escrow go to who set it"),
	system(AddrActors, OpTimerConfig, "timer_config").runs().drains(MeansFunds).args(Arg{"actor", ArgAddress, false}, Arg{"timer_id", ArgHash, false}, Arg{"config", ArgMap, false}).note("\"bidder\" (address or null), \"cells_limit\", \"cycles_limit\", each optional; not of a timer that is due. More escrow is the sender's; who bids says who set the timer"),
	system(AddrActors, OpTimerExtend, "timer_extend").runs().drains(MeansFunds).args(Arg{"actor", ArgAddress, false}, Arg{"timer_id", ArgHash, false}, Arg{"until_height", ArgUint, false}).note("the sender pays"),
	system(AddrActors, OpTimerSchedule, "timer_schedule").runs().drains(MeansFunds).costs(CostTimerSchedule).args(Arg{"actor", ArgAddress, false}, Arg{"height", ArgUint, false}, Arg{"interval", ArgUint, true}, Arg{"handler", ArgText, false}, Arg{"payload", ArgBytes, false}).note("by the actor's creator, which pays, also for the firings; to the actor it is a message of its creator"),
}

// system starts a row: a user-lane instruction that anyone may send at the
// price of a message.
func system(to Address, opcode uint64, name string) InstructionSpec {
	return InstructionSpec{Kind: KindSystem, Name: name, To: to, Opcode: opcode, Lane: LaneUser, Cost: CostInstruction}
}

func (s InstructionSpec) runs() InstructionSpec            { s.Executable = true; return s }
func (s InstructionSpec) drains(m Means) InstructionSpec   { s.Drains = m; return s }
func (s InstructionSpec) args(args ...Arg) InstructionSpec { s.Args = args; return s }
func (s InstructionSpec) costs(c CostRule) InstructionSpec { s.Cost = c; return s }
func (s InstructionSpec) note(text string) InstructionSpec { s.Note = text; return s }
func (s InstructionSpec) in(l LaneID, r SenderRule) InstructionSpec {
	s.Lane, s.Sender = l, r
	return s
}

// InstructionTable returns every row: the kinds without an opcode, then the
// system instructions grouped by address.
func InstructionTable() []InstructionSpec {
	return slices.Concat([]InstructionSpec{transferSpec, messageSpec, deploySpec}, systemInstructions)
}

// lookupInstruction returns the row of an opcode at an address. The table is
// short and its transactions are the rarer ones, so it is searched in order.
func lookupInstruction(to Address, opcode uint64) (InstructionSpec, bool) {
	for i := range systemInstructions {
		if s := &systemInstructions[i]; s.Opcode == opcode && s.To == to {
			return *s, true
		}
	}
	return InstructionSpec{}, false
}
