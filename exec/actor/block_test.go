package actor

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// TestHostCostsFollowTheParameters: every price of a call of the host is the
// parameter's, whatever the default is.
func TestHostCostsFollowTheParameters(t *testing.T) { // whitepaper §17.3; resolution 2.7
	p := params.Default()
	for _, row := range []struct {
		name string
		set  *chain.Cycles
		got  func(host.Costs) code.Cycles
	}{
		{"send", &p.API.SendMessageCycles, func(c host.Costs) code.Cycles { return c.Send }},
		{"storage read", &p.API.StorageReadCycles, func(c host.Costs) code.Cycles { return c.StorageRead }},
		{"byte read", &p.API.StorageReadByteCycles, func(c host.Costs) code.Cycles { return c.ReadByte }},
		{"storage write", &p.API.StorageWriteCycles, func(c host.Costs) code.Cycles { return c.StorageWrite }},
		{"byte written", &p.API.StorageWriteByteCycles, func(c host.Costs) code.Cycles { return c.WriteByte }},
		{"hash", &p.API.HashCycles, func(c host.Costs) code.Cycles { return c.Hash }},
		{"byte hashed", &p.API.HashByteCycles, func(c host.Costs) code.Cycles { return c.HashByte }},
		{"signature", &p.API.VerifySignatureCycles, func(c host.Costs) code.Cycles { return c.Verify }},
		{"block", &p.API.BlockInfoCycles, func(c host.Costs) code.Cycles { return c.BlockInfo }},
		{"event", &p.API.EmitEventCycles, func(c host.Costs) code.Cycles { return c.Event }},
		{"byte of an event", &p.API.EmitEventByteCycles, func(c host.Costs) code.Cycles { return c.EventByte }},
		{"timer", &p.API.TimerSetCycles, func(c host.Costs) code.Cycles { return c.Timer }},
		{"timer cancelled", &p.API.TimerCancelCycles, func(c host.Costs) code.Cycles { return c.TimerCancel }},
		{"timer filed", &p.API.TimerFileCycles, func(c host.Costs) code.Cycles { return c.TimerFile }},
		{"scan", &p.API.StorageScanCycles, func(c host.Costs) code.Cycles { return c.StorageScan }},
		{"BLS signature", &p.API.VerifyBLSCycles, func(c host.Costs) code.Cycles { return c.VerifyBLS }},
		{"VRF proof", &p.API.VerifyVRFCycles, func(c host.Costs) code.Cycles { return c.VerifyVRF }},
		{"job", &p.API.SubmitJobCycles, func(c host.Costs) code.Cycles { return c.Job }},
		{"system", &p.API.SystemCycles, func(c host.Costs) code.Cycles { return c.System }},
		{"code", &p.Intrinsic.DeployCycles, func(c host.Costs) code.Cycles { return c.Deploy }},
		{"byte of code", &p.API.DeployByteCycles, func(c host.Costs) code.Cycles { return c.DeployByte }},
		{"KiB of a blob", &p.API.BlobCommitKiBCycles, func(c host.Costs) code.Cycles { return c.BlobKiB }},
		{"token transfer", &p.Token.TransferCycles, func(c host.Costs) code.Cycles { return c.TokenTransfer }},
		{"token transfer_from", &p.Token.TransferFromCycles, func(c host.Costs) code.Cycles { return c.TokenFrom }},
		{"token approve", &p.Token.ApproveCycles, func(c host.Costs) code.Cycles { return c.TokenApprove }},
		{"token balance", &p.Token.BalanceOfCycles, func(c host.Costs) code.Cycles { return c.TokenBalance }},
		{"token mint", &p.Token.MintCycles, func(c host.Costs) code.Cycles { return c.TokenMint }},
		{"token burn", &p.Token.BurnCycles, func(c host.Costs) code.Cycles { return c.TokenBurn }},
		{"token create", &p.Token.CreateCycles, func(c host.Costs) code.Cycles { return c.TokenCreate }},
		{"token administration", &p.Token.AdminCycles, func(c host.Costs) code.Cycles { return c.TokenAdmin }},
		{"token batch", &p.Token.BatchCycles, func(c host.Costs) code.Cycles { return c.TokenMany }},
		{"payment of a batch", &p.Token.BatchEachCycles, func(c host.Costs) code.Cycles { return c.TokenEach }},
		{"token record", &p.Token.InfoCycles, func(c host.Costs) code.Cycles { return c.TokenInfo }},
	} {
		const price = 987_654_321
		*row.set = price
		if got := row.got(NewBlock(Block{Params: &p}).costs); got != price {
			t.Errorf("%s costs %d, want %d", row.name, got, price)
		}
		*row.set = 1
	}
	p = params.Default()
	if got := NewBlock(Block{Params: &p}).costs; got != host.DefaultCosts() {
		t.Errorf("the defaults charge %+v, the table says %+v", got, host.DefaultCosts())
	}
	for i, row := range NewBlock(Block{Params: &p}).costs.Rows() {
		if row.Cycles == 0 {
			t.Errorf("row %d, %s, is free", i, row.Name)
		}
	}
}
