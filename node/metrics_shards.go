package node

// shardMetrics counts blocks that travel piece by piece.
func (n *Node) shardMetrics(counter counterFunc) {
	s := &n.engine.Stats.Shards
	counter("shard_blocks_sent_total", "Own blocks that left as shards.", s.BlocksSent.Load)
	counter("shards_relayed_total", "Own shards given to the other validators.", s.Relayed.Load)
	counter("shards_received_total", "Shards that came and passed.", s.Received.Load)
	counter("shards_refused_total", "Shards that no honest validator sends; the senders are banned.", s.Refused.Load)
	counter("shard_blocks_rebuilt_total", "Blocks put together from shards.", s.BlocksRebuilt.Load)
	counter("shard_not_codeword_total", "Proposals refused because their shards were no codeword.", s.NotCodeword.Load)
}
