package host

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// Costs are the cycles of calls of the host: whitepaper §17.3 for what it
// lists, §3.5 for timers and blobs (resolution 2.7). They stand in genesis
// beside the machine's table.
type Costs struct {
	Send          code.Cycles // per message, sent or called
	StorageRead   code.Cycles
	ReadByte      code.Cycles // per byte of key and value
	StorageWrite  code.Cycles // also a deletion
	WriteByte     code.Cycles
	Hash          code.Cycles
	HashByte      code.Cycles
	Verify        code.Cycles // a signature
	BlockInfo     code.Cycles // anything of Env, a balance
	Event         code.Cycles
	EventByte     code.Cycles
	Timer         code.Cycles // set or cancelled
	Job           code.Cycles // submitted
	BlobKiB       code.Cycles // committed
	System        code.Cycles // other operations of system actors
	TokenTransfer code.Cycles
	TokenFrom     code.Cycles // transfer on behalf
	TokenApprove  code.Cycles
	TokenBalance  code.Cycles
	TokenMint     code.Cycles
	TokenBurn     code.Cycles
	TokenCreate   code.Cycles
}

// DefaultCosts returns the table of genesis.
func DefaultCosts() Costs {
	return Costs{
		Send: 1000, StorageRead: 500, ReadByte: 1, StorageWrite: 5000, WriteByte: 10,
		Hash: 100, HashByte: 1, Verify: 3000, BlockInfo: 100, Event: 500, EventByte: 5,
		Timer: 200, Job: 1000, BlobKiB: 40, System: 1000,
		TokenTransfer: 1000, TokenFrom: 1500, TokenApprove: 500, TokenBalance: 100,
		TokenMint: 1000, TokenBurn: 500, TokenCreate: 10_000,
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
		{"storage_write", c.StorageWrite},
		{"storage_write_byte", c.WriteByte},
		{"hash", c.Hash},
		{"hash_byte", c.HashByte},
		{"verify_signature", c.Verify},
		{"get_block_info", c.BlockInfo},
		{"emit_event", c.Event},
		{"emit_event_byte", c.EventByte},
		{"timer", c.Timer},
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
	}
}

// SystemCost returns the price of an operation of [Host.System].
func (c Costs) SystemCost(op string) code.Cycles {
	switch op {
	case "token_transfer":
		return c.TokenTransfer
	case "token_transfer_from":
		return c.TokenFrom
	case "token_approve":
		return c.TokenApprove
	case "token_balance_of", "token_allowance", "token_info":
		return c.TokenBalance
	case "token_mint":
		return c.TokenMint
	case "token_burn":
		return c.TokenBurn
	case "token_create":
		return c.TokenCreate
	}
	return c.System
}
