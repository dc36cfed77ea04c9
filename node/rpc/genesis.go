package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// params answers GET /params.
func (s *Server) params(w http.ResponseWriter, _ *http.Request, _ []string) error {
	g := s.cfg.Genesis
	if g == nil {
		return notFound(CodeUnknownPath, "this server was started without a genesis")
	}
	p := s.inForce()
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

// inForce returns the parameters in force in the next block: those of the genesis where
// nothing was decided. The server has a genesis.
func (s *Server) inForce() *params.Params {
	if p := s.source.InForce(); p != nil {
		return p
	}
	return &s.cfg.Genesis.Params
}

// genesis answers GET /genesis with the file by which another node joins, which may have
// megabytes: the server encodes it once, when it is made.
func (s *Server) genesis(w http.ResponseWriter, _ *http.Request, _ []string) error {
	if s.cfg.Genesis == nil {
		return notFound(CodeUnknownPath, "this server was started without a genesis")
	}
	s.writeBody(w, http.StatusOK, "application/json", s.genesisBody)
	return nil
}
