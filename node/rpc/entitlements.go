package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
)

// GrantReply answers GET /entitlement/{id} (CIP-2 §7).
type GrantReply struct {
	ID          chain.Hash       `json:"entitlement_id"`
	Grantee     chain.Address    `json:"grantee"`
	Scope       string           `json:"scope"`  // "runner_pool:eu" and the like
	Action      string           `json:"action"` // "runner_join_pool:eu" and the like
	Constraints ConstraintsReply `json:"constraints"`
	Parent      *chain.Hash      `json:"parent_id"` // that it was delegated from
	Grantor     chain.Address    `json:"grantor"`
	Made        uint64           `json:"granted_height"`
	Used        uint64           `json:"used_count"`
	AmountUsed  uint64           `json:"total_amount_used"`
	InForce     bool             `json:"in_force"` // in the next block, with all that it was delegated from
}

// ConstraintsReply is the conditions of a grant or a role; what is left out is
// none.
type ConstraintsReply struct {
	From         uint64     `json:"valid_from,omitempty"`
	Until        uint64     `json:"valid_until,omitempty"`
	Uses         uint64     `json:"max_uses,omitempty"`
	AmountPerUse uint64     `json:"max_amount_per_use,omitempty"`
	TotalAmount  uint64     `json:"max_total_amount,omitempty"`
	Rate         *[2]uint64 `json:"rate_limit,omitempty"` // uses in blocks
	Depth        uint64     `json:"delegation_depth_max,omitempty"`
	Revocable    bool       `json:"revocable"`
}

// RoleReply answers GET /role/{id}.
type RoleReply struct {
	ID          chain.Hash       `json:"role_id"`
	Creator     chain.Address    `json:"creator"`
	Name        string           `json:"name"`
	Scopes      []string         `json:"scopes"`
	Actions     []string         `json:"actions"`
	Constraints ConstraintsReply `json:"constraints"`
	Made        uint64           `json:"created_height"`
}

// EntitlementsReply answers GET /account/{address}/entitlements: at most 1,024 grants
// and as many roles.
type EntitlementsReply struct {
	Address      string       `json:"address"`
	Entitlements []GrantReply `json:"entitlements"`
	Roles        []RoleReply  `json:"roles"`
	Height       uint64       `json:"height"`
}

// HolderReply answers GET /scope/{scope}/holder.
type HolderReply struct {
	Scope  string         `json:"scope"`
	Holder *chain.Address `json:"holder"` // null: nobody has granted in it
}

func (s *Server) entitlementRoutes() []route {
	get := http.MethodGet
	return []route{
		{method: get, pattern: "/entitlement/{id}", about: "a grant of the entitlement registry", handle: s.entitlement, cost: costStateProof},
		{method: get, pattern: "/role/{id}", about: "a role: its scopes and actions", handle: s.role, cost: costStateProof},
		{method: get, pattern: "/scope/{scope}/holder", about: "who answers for a pool or a namespace, as runner_pool:NAME", handle: s.holder, cost: costStateProof},
		{method: get, pattern: "/account/{address}/entitlements", about: "the grants and roles of an account", handle: s.entitlements, slots: s.exports, cost: costBlockProof},
	}
}

func (s *Server) entitlement(w http.ResponseWriter, r *http.Request, args []string) error {
	id, err := parseHash(args[0])
	if err != nil {
		return err
	}
	var reply *GrantReply
	err = s.readHead(r.Context(), func(v StorageReader, h chain.Height) (err error) {
		reply, err = grantReply(v, h, id)
		return err
	})
	if err == nil && reply == nil {
		err = notFound(CodeUnknownEntitlement, "the registry has no entitlement %s", id)
	}
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func grantReply(v StorageReader, h chain.Height, id chain.Hash) (*GrantReply, error) {
	g, err := entitlements.ReadGrant(v, id)
	if err != nil || g == nil {
		return nil, err
	}
	in, err := entitlements.InForce(v, h+1, id, g)
	return &GrantReply{
		ID: id, Grantee: g.Grantee, Scope: g.Scope.String(), Action: g.Action.String(), Constraints: constraintsReply(&g.Constraints),
		Parent: g.Parent, Grantor: g.Grantor, Made: uint64(g.Made), Used: g.Used, AmountUsed: g.AmountUsed, InForce: in,
	}, err
}

func constraintsReply(c *entitlements.Constraints) ConstraintsReply {
	reply := ConstraintsReply{
		From: uint64(c.From), Until: uint64(c.Until), Uses: c.Uses, AmountPerUse: c.AmountPerUse, TotalAmount: c.TotalAmount,
		Depth: c.Depth, Revocable: !c.Irrevocable,
	}
	if c.Rate != nil {
		reply.Rate = &[2]uint64{c.Rate.Uses, c.Rate.Blocks}
	}
	return reply
}

func (s *Server) role(w http.ResponseWriter, r *http.Request, args []string) error {
	id, err := parseHash(args[0])
	if err != nil {
		return err
	}
	var role *entitlements.Role
	err = s.readHead(r.Context(), func(v StorageReader, _ chain.Height) (err error) {
		role, err = entitlements.ReadRole(v, id)
		return err
	})
	if err == nil && role == nil {
		err = notFound(CodeUnknownEntitlement, "the registry has no role %s", id)
	}
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, roleReply(id, role))
	return nil
}

func roleReply(id chain.Hash, role *entitlements.Role) RoleReply {
	reply := RoleReply{
		ID: id, Creator: role.Creator, Name: role.Name, Scopes: make([]string, len(role.Scopes)), Actions: make([]string, len(role.Actions)),
		Constraints: constraintsReply(&role.Constraints), Made: uint64(role.Made),
	}
	for i, scope := range role.Scopes {
		reply.Scopes[i] = scope.String()
	}
	for i, action := range role.Actions {
		reply.Actions[i] = action.String()
	}
	return reply
}

func (s *Server) holder(w http.ResponseWriter, r *http.Request, args []string) error {
	scope, err := entitlements.ParseScope(args[0])
	if err != nil {
		return badRequest(CodeBadRequest, "%s", clip(err.Error()))
	}
	if scope.Kind != entitlements.ScopePool && scope.Kind != entitlements.ScopeNamespace {
		return badRequest(CodeBadRequest, "%s has no holder: give runner_pool:NAME or namespace:NAME", scope)
	}
	reply := HolderReply{Scope: scope.String()}
	err = s.readHead(r.Context(), func(v StorageReader, _ chain.Height) error {
		a, ok, err := entitlements.Holder(v, scope)
		if ok {
			reply.Holder = &a
		}
		return err
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func (s *Server) entitlements(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	var reply EntitlementsReply
	err = s.readHead(r.Context(), func(v StorageReader, h chain.Height) (err error) {
		reply, err = entitlementsReply(v, h, addr)
		return err
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func entitlementsReply(v StorageReader, h chain.Height, addr chain.Address) (EntitlementsReply, error) {
	reply := EntitlementsReply{Address: addr.String(), Entitlements: []GrantReply{}, Roles: []RoleReply{}, Height: uint64(h)}
	grants, err := entitlements.Grants(v, addr)
	if err != nil {
		return reply, err
	}
	for _, id := range grants {
		g, err := grantReply(v, h, id)
		if err != nil {
			return reply, err
		}
		if g != nil {
			reply.Entitlements = append(reply.Entitlements, *g)
		}
	}
	roles, err := entitlements.Roles(v, addr)
	if err != nil {
		return reply, err
	}
	for _, id := range roles {
		role, err := entitlements.ReadRole(v, id)
		if err != nil {
			return reply, err
		}
		if role != nil {
			reply.Roles = append(reply.Roles, roleReply(id, role))
		}
	}
	return reply, nil
}
