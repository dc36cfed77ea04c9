package node

// budgetMetrics tells what stands under budgets of bytes, and what they refuse.
func (n *Node) budgetMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.engine.Stats
	gauge("consensus_inbox_bytes", "Bytes of peers' messages that consensus has not taken yet.", func() float64 { return float64(s.InboxBytes.Load()) })
	gauge("consensus_timeout_factor", "By how much the waits of a view are longer than the chain's parameters say, because views ended without a block.", func() float64 { return float64(s.TimeoutPermille.Load()) / 1000 })
	counter("consensus_inbox_refused_bytes_total", "Messages refused because the inbox of consensus, or their sender's share of it, was full: of bytes, or of that sender's messages.", s.RefusedBytes.Load)
	gauge("consensus_block_bytes", "Bytes of blocks above the last final one that consensus holds.", func() float64 { return float64(s.BlockBytes.Load()) })
	gauge("consensus_journal_bytes", "Bytes of the records in votes.journal.", func() float64 { return float64(s.JournalBytes.Load()) })
	counter("consensus_blocks_dropped_total", "Blocks that consensus dropped for want of room while nothing became final; those needed are fetched again.", s.BlocksDropped.Load)
	counter("consensus_backfills_put_off_total", "Fetched blocks that found no room and are fetched again.", s.BackfillsPutOff.Load)
	gauge("unfinal_bytes", "About what executed blocks take that are not final.", func() float64 { return float64(n.ledger.UnfinalBytes()) })
	counter("blocks_crowded_total", "Own blocks left empty, and others' not voted for, because executed ones that are not final took all their room.", n.ledger.Stats.Crowded.Load)
	if n.mesh != nil {
		gauge("p2p_offline_bytes", "Bytes of messages that wait for members that are not connected.", func() float64 { return float64(n.mesh.transport.OfflineBytes()) })
		counter("p2p_offline_dropped_total", "Messages dropped of those that waited for members that were not connected.", n.mesh.transport.OfflineDropped)
	}
}
