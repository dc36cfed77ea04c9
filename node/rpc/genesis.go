package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// params answers GET /params.
func (s *Server) params(w http.ResponseWriter, r *http.Request, _ []string) error {
	g := s.cfg.Genesis
	if g == nil {
		return notFound(CodeUnknownPath, "this server was started without a genesis")
	}
	p := &g.Params
	decided, err := s.source.Governance(r.Context())
	if err != nil {
		return err
	}
	if decided.Params != nil {
		p = decided.Params
	}
	shares := make(map[string]uint64, chain.NumLanes)
	for lane := range chain.NumLanes {
		shares[lane.String()] = p.LaneShareBasisPoints[lane]
	}
	s.writeJSON(w, http.StatusOK, ParamsReply{
		Name: g.Name, ChainID: g.ChainID, BlockTimeMillis: p.BlockTimeMillis,
		CyclesTarget: uint64(p.CyclesTarget), CyclesCap: uint64(p.CyclesCap),
		CellsTarget: uint64(p.CellsTarget), CellsCap: uint64(p.CellsCap),
		MaxTxBytes: p.MaxTxBytes, MaxBlockBytes: p.MaxBlockBytes,
		TransferIntrinsicCycles: uint64(p.Intrinsic.TransferCycles), IntrinsicCosts: p.Intrinsic,
		LaneProfile: p.LaneProfile, LaneShareBasisPoints: shares,
	})
	return nil
}

// genesis answers GET /genesis with the file by which another node joins.
func (s *Server) genesis(w http.ResponseWriter, _ *http.Request, _ []string) error {
	if s.cfg.Genesis == nil {
		return notFound(CodeUnknownPath, "this server was started without a genesis")
	}
	s.writeJSON(w, http.StatusOK, s.cfg.Genesis)
	return nil
}
