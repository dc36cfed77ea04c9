package client

import (
	"context"
	"net/url"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Entitlement returns a grant of the entitlement registry.
func (c *Client) Entitlement(ctx context.Context, id chain.Hash) (*rpc.GrantReply, error) {
	return get[rpc.GrantReply](ctx, c, "/entitlement/"+id.String())
}

// Role returns a role of the entitlement registry.
func (c *Client) Role(ctx context.Context, id chain.Hash) (*rpc.RoleReply, error) {
	return get[rpc.RoleReply](ctx, c, "/role/"+id.String())
}

// Entitlements returns the grants and roles of an account.
func (c *Client) Entitlements(ctx context.Context, addr chain.Address) (*rpc.EntitlementsReply, error) {
	return get[rpc.EntitlementsReply](ctx, c, "/account/"+addr.String()+"/entitlements")
}

// ScopeHolder returns who answers for a pool or a namespace.
func (c *Client) ScopeHolder(ctx context.Context, s entitlements.Scope) (*rpc.HolderReply, error) {
	return get[rpc.HolderReply](ctx, c, "/scope/"+url.PathEscape(s.String())+"/holder")
}

// GrantTx gives a permission.
func GrantTx(a *entitlements.Asked) *chain.Tx {
	return registryTx(chain.OpEntitlementGrant, a.Grantee[:], a.Scope.Append(nil), a.Action.Append(nil), a.Constraints.Append(nil))
}

// RevokeGrantTx takes one back.
func RevokeGrantTx(id chain.Hash) *chain.Tx { return registryTx(chain.OpEntitlementRevoke, id[:]) }

// DelegateTx gives a permission of the sender's to another account.
func DelegateTx(id chain.Hash, to chain.Address, c *entitlements.Constraints) *chain.Tx {
	return registryTx(chain.OpEntitlementDelegate, id[:], to[:], c.Append(nil))
}

// CreateRoleTx names scopes and actions.
func CreateRoleTx(r *entitlements.Role) *chain.Tx {
	return registryTx(chain.OpRoleCreate, []byte(r.Name), entitlements.AppendScopes(nil, r.Scopes), entitlements.AppendActions(nil, r.Actions), r.Constraints.Append(nil))
}

// AssignRoleTx gives a role of the sender's to an account.
func AssignRoleTx(id chain.Hash, to chain.Address) *chain.Tx {
	return registryTx(chain.OpRoleAssign, id[:], to[:])
}

// RevokeRoleTx takes a role from an account.
func RevokeRoleTx(id chain.Hash, from chain.Address) *chain.Tx {
	return registryTx(chain.OpRoleRevoke, id[:], from[:])
}

// registryTx is an instruction whose arguments are all byte strings.
func registryTx(opcode uint64, args ...[]byte) *chain.Tx {
	payload := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, a := range args {
		payload = cbor.AppendBytes(payload, a)
	}
	to := chain.AddrEntitlements
	return &chain.Tx{To: &to, Payload: payload}
}
