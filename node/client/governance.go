package client

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Governance returns the multisig's rules, its proposals and the parameters in
// force.
func (c *Client) Governance(ctx context.Context) (*rpc.GovernanceReply, error) {
	return get[rpc.GovernanceReply](ctx, c, "/governance")
}

// ProposeTx proposes an action.
func ProposeTx(a *governance.Action, emergency bool) *chain.Tx {
	b := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpGovernancePropose)
	return governanceTx(cbor.AppendBool(a.Append(b), emergency))
}

// ApproveTx approves a proposal.
func ApproveTx(id chain.Hash) *chain.Tx { return aboutProposal(chain.OpGovernanceApprove, id) }

// ExecuteTx carries a proposal out.
func ExecuteTx(id chain.Hash) *chain.Tx { return aboutProposal(chain.OpGovernanceExecute, id) }

func aboutProposal(opcode uint64, id chain.Hash) *chain.Tx {
	return governanceTx(cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), opcode), id[:]))
}

func governanceTx(payload []byte) *chain.Tx {
	to := chain.AddrGovernance
	return &chain.Tx{To: &to, Payload: payload}
}
