package host

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// Costs are the cycles of calls of the host: whitepaper §17.3 for what it
// lists, §3.5 for timers and blobs (resolution 2.7). They stand in genesis
// beside the machine's table.
type Costs struct {
	Send          code.Cycles // per message, sent or called
	StorageRead   code.Cycles
	ReadByte      code.Cycles // per byte of key and value
	StorageScan   code.Cycles // besides a read for each entry
	StorageWrite  code.Cycles // also a deletion
	WriteByte     code.Cycles
	Hash          code.Cycles
	HashByte      code.Cycles
	Verify        code.Cycles // a signature
	BlockInfo     code.Cycles // anything of Env, a balance
	Event         code.Cycles
	EventByte     code.Cycles
	Timer         code.Cycles // set or extended
	TimerCancel   code.Cycles
	TimerFile     code.Cycles // besides these: records of the queues
	Job           code.Cycles // submitted
	BlobKiB       code.Cycles // committed
	System        code.Cycles // operations of system actors that have no row
	TokenTransfer code.Cycles
	TokenFrom     code.Cycles // transfer on behalf
	TokenApprove  code.Cycles
	TokenBalance  code.Cycles
	TokenMint     code.Cycles
	TokenBurn     code.Cycles
	TokenCreate   code.Cycles
	TokenMany     code.Cycles // several transfers at once
	TokenEach     code.Cycles // each of them
	TokenAdmin    code.Cycles // freezing, owner, hooks
	TokenInfo     code.Cycles
	VerifyBLS     code.Cycles
	VerifyVRF     code.Cycles
	Deploy        code.Cycles // code spawned or replaced
	DeployByte    code.Cycles // of source
}

// DefaultCosts returns the table of genesis.
func DefaultCosts() Costs {
	return Costs{
		Send: 1000, StorageRead: 500, ReadByte: 1, StorageScan: 2000, StorageWrite: 5000, WriteByte: 10,
		Hash: 100, HashByte: 1, Verify: 3000, BlockInfo: 100, Event: 500, EventByte: 5,
		Timer: 200, TimerCancel: 200, TimerFile: 1000, Job: 1000, BlobKiB: 40, System: 1000,
		TokenTransfer: 1000, TokenFrom: 1500, TokenApprove: 500, TokenBalance: 100,
		TokenMint: 1000, TokenBurn: 500, TokenCreate: 10_000,
		TokenMany: 500, TokenEach: 500, TokenAdmin: 500, TokenInfo: 200,
		VerifyBLS: 60_000, VerifyVRF: 60_000, Deploy: 100_000, DeployByte: 10,
	}
}

// Row is a line of the table of costs.
type Row struct {
	Name   string
	Cycles code.Cycles
}

// Rows returns the table in its fixed order, by which genesis hashes it.
func (c Costs) Rows() []Row {
	return []Row{
		{"send_message", c.Send},
		{"storage_read", c.StorageRead},
		{"storage_read_byte", c.ReadByte},
		{"storage_scan", c.StorageScan},
		{"storage_write", c.StorageWrite},
		{"storage_write_byte", c.WriteByte},
		{"hash", c.Hash},
		{"hash_byte", c.HashByte},
		{"verify_signature", c.Verify},
		{"get_block_info", c.BlockInfo},
		{"emit_event", c.Event},
		{"emit_event_byte", c.EventByte},
		{"timer", c.Timer},
		{"timer_cancel", c.TimerCancel},
		{"timer_file", c.TimerFile},
		{"submit_job", c.Job},
		{"blob_commit_kib", c.BlobKiB},
		{"system", c.System},
		{"token_transfer", c.TokenTransfer},
		{"token_transfer_from", c.TokenFrom},
		{"token_approve", c.TokenApprove},
		{"token_balance_of", c.TokenBalance},
		{"token_mint", c.TokenMint},
		{"token_burn", c.TokenBurn},
		{"token_create", c.TokenCreate},
		{"token_transfer_many", c.TokenMany},
		{"token_transfer_each", c.TokenEach},
		{"token_admin", c.TokenAdmin},
		{"token_info", c.TokenInfo},
		{"verify_bls", c.VerifyBLS},
		{"verify_vrf", c.VerifyVRF},
		{"deploy", c.Deploy},
		{"deploy_byte", c.DeployByte},
	}
}
