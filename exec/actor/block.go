package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// Block is what all runs of one block share. It does not change while they run, but
// for the cache of manifests, on which no result depends; nil stands for one of the
// block's own.
type Block struct {
	Params          *params.Params
	ChainID         uint64
	Height          chain.Height
	TimestampMillis uint64
	Beacon          chain.Hash    // R of the parent's round (CIP-11 §9.2)
	TimerBase       chain.FeePair // base fees of the timer lane
	Manifests       manifest.Cache
	Round           service.Round
	JobRules        jobs.Rules
	Factor          uint64 // of what the state grows by, in basis points ([fees.GrowthFactor]); 0 is 1

	costs   host.Costs
	limits  sdk.Limits
	imports map[string]bool // modules that programs may import; looked up
}

// NewBlock returns b with what follows from its parameters.
func NewBlock(b Block) *Block {
	if b.Manifests == nil {
		b.Manifests = manifest.NewMemo(manifest.CacheBytes)
	}
	b.costs, b.limits = costsOf(b.Params), sdk.DefaultLimits()
	b.limits.ScratchBytes = int(b.Params.Actor.ScratchBytes)
	b.limits.Value.Bytes = int(b.Params.Actor.InlineBlobBytes)
	b.imports = map[string]bool{"cowboy_sdk": true}
	// Bounded: by the modules that the genesis lists, some twenty.
	for _, name := range b.Params.Actor.Imports {
		b.imports[name] = true
	}
	return &b
}

// costsOf prices the calls of the host by the chain's parameters, all of them.
func costsOf(p *params.Params) host.Costs {
	var c host.Costs
	api, token := &p.API, &p.Token
	c.Send = code.Cycles(api.SendMessageCycles)
	c.StorageRead, c.ReadByte = code.Cycles(api.StorageReadCycles), code.Cycles(api.StorageReadByteCycles)
	c.StorageWrite, c.WriteByte = code.Cycles(api.StorageWriteCycles), code.Cycles(api.StorageWriteByteCycles)
	c.Hash, c.HashByte = code.Cycles(api.HashCycles), code.Cycles(api.HashByteCycles)
	c.Verify, c.BlockInfo = code.Cycles(api.VerifySignatureCycles), code.Cycles(api.BlockInfoCycles)
	c.Event, c.EventByte = code.Cycles(api.EmitEventCycles), code.Cycles(api.EmitEventByteCycles)
	c.Timer, c.BlobKiB = code.Cycles(api.TimerSetCycles), code.Cycles(api.BlobCommitKiBCycles)
	c.TokenTransfer, c.TokenFrom = code.Cycles(token.TransferCycles), code.Cycles(token.TransferFromCycles)
	c.TokenApprove, c.TokenBalance = code.Cycles(token.ApproveCycles), code.Cycles(token.BalanceOfCycles)
	c.TokenMint, c.TokenBurn = code.Cycles(token.MintCycles), code.Cycles(token.BurnCycles)
	c.TokenCreate, c.TokenAdmin = code.Cycles(token.CreateCycles), code.Cycles(token.AdminCycles)
	c.TokenMany, c.TokenEach = code.Cycles(token.BatchCycles), code.Cycles(token.BatchEachCycles)
	c.TokenInfo = code.Cycles(token.InfoCycles)
	c.TimerFile = code.Cycles(api.TimerFileCycles)
	c.StorageScan, c.TimerCancel = code.Cycles(api.StorageScanCycles), code.Cycles(api.TimerCancelCycles)
	c.VerifyBLS, c.VerifyVRF = code.Cycles(api.VerifyBLSCycles), code.Cycles(api.VerifyVRFCycles)
	c.Job, c.System = code.Cycles(api.SubmitJobCycles), code.Cycles(api.SystemCycles)
	c.Deploy, c.DeployByte = code.Cycles(p.Intrinsic.DeployCycles), code.Cycles(api.DeployByteCycles)
	return c
}
