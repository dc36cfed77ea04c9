package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// ingressMetrics counts what happens to a transaction before it is in a block.
func (n *Node) ingressMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.sigverify.Stats
	counter("sigverify_submitted_total", "Transactions taken into the signature queue.", s.Submitted.Load)
	counter("sigverify_busy_total", "Transactions refused because the signature queue was full.", s.Busy.Load)
	counter("sigverify_over_share_total", "Transactions refused because their peer, or their client, had its share of a contended signature queue.", s.OverShare.Load)
	counter("sigverify_malformed_total", "Transactions refused for size, encoding or instruction.", s.Malformed.Load)
	counter("sigverify_known_total", "Transactions found in the sender cache.", s.Known.Load)
	counter("sigverify_waiting_total", "Transactions of proposed blocks that the sender cache had forgotten and the pool still held.", s.Waiting.Load)
	counter("sigverify_decoded_total", "Bodies of transactions that were decoded.", s.Decoded.Load)
	counter("sigverify_recovered_total", "Senders recovered from signatures.", s.Recovered.Load)
	counter("sigverify_forged_total", "Transactions refused for their signature.", s.Forged.Load)
	counter("sigverify_batches_total", "Batches verified.", s.Batches.Load)
	counter("sigverify_recover_nanoseconds_total", "Time spent recovering senders.", s.RecoverNanos.Load)
	gauge("sigverify_queued", "Transactions in the signature queue.", func() float64 { return float64(s.QueuedTxs.Load()) })

	counter("pool_admitted_total", "Transactions taken into the pool.", func() uint64 { return n.lanes.Stats().Admitted })
	counter("pool_refused_total", "Transactions refused for nonce, balance, price or rules.", func() uint64 { return n.lanes.Stats().Refused })
	counter("pool_full_total", "Transactions refused because their lane was full.", func() uint64 { return n.lanes.Stats().Full })
	counter("pool_replaced_total", "Transactions replaced by a better-paying one of the same nonce.", func() uint64 { return n.lanes.Stats().Replaced })
	counter("pool_aged_total", "Transactions dropped because they had waited too long.", func() uint64 { return n.lanes.Stats().Aged })
	counter("pool_evicted_total", "Transactions pushed out of a full lane.", func() uint64 { return n.lanes.Stats().Evicted })
	counter("pool_included_total", "Transactions that left with a finalized block.", func() uint64 { return n.lanes.Stats().Included })
	for lane := range chain.NumLanes {
		gauge("pool_"+lane.String()+"_transactions", "Transactions waiting in the "+lane.String()+" lane.", func() float64 {
			return float64(n.lanes.Stats().Lanes[lane].Txs)
		})
		gauge("pool_"+lane.String()+"_bytes", "Bytes waiting in the "+lane.String()+" lane, of each body those beyond its first KiB.", func() float64 {
			return float64(n.lanes.Stats().Lanes[lane].Bytes)
		})
	}
}

// stageMetrics turns the stages of consensus into one histogram with a label.
type stageMetrics struct {
	stats *engine.Stats
	desc  *prometheus.Desc
}

func newStageMetrics(s *engine.Stats) *stageMetrics {
	return &stageMetrics{s, prometheus.NewDesc("cowboy_stage_seconds", "Wall time of the stages of a block.", []string{"stage"}, nil)}
}

// Describe implements prometheus.Collector.
func (m *stageMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.desc }

// Collect implements prometheus.Collector.
func (m *stageMetrics) Collect(ch chan<- prometheus.Metric) {
	for stage := range engine.NumStages {
		d := &m.stats.Stages[stage]
		counts := d.Counts()
		buckets := make(map[float64]uint64, len(counts))
		var total uint64
		for i, n := range counts {
			total += n
			if i < len(counts)-1 {
				buckets[engine.BucketBound(i).Seconds()] = total
			}
		}
		ch <- prometheus.MustNewConstHistogram(m.desc, total, d.Sum().Seconds(), buckets, stage.String())
	}
}

// consensusMetrics counts views, certificates and journal work.
func (n *Node) consensusMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.engine.Stats
	gauge("view", "Current consensus view.", func() float64 { return float64(s.View.Load()) })
	counter("proposals_made_total", "Blocks of our own put to the vote.", s.ProposalsMade.Load)
	counter("proposals_missed_total", "Views we led without a block in time.", s.ProposalsMissed.Load)
	counter("leader_timeouts_total", "Views without a proposal in time.", s.LeaderTimeouts.Load)
	counter("leader_skips_total", "Views not waited for, because their leader had been silent for long.", s.LeaderSkips.Load)
	counter("certification_timeouts_total", "Views that did not end in time.", s.CertificationTimeouts.Load)
	for kind := range s.Certificates {
		if kind == 0 {
			continue
		}
		counter(simplex.Kind(kind).String()+"_certificates_total", "Certificates recovered here from votes.", s.Certificates[kind].Load)
	}
	counter("evidence_total", "Proofs that a validator contradicted itself.", s.Evidence.Load)
	counter("votes_withheld_total", "Own votes not made: while the start listens, or against the double-sign protection.", s.VotesWithheld.Load)
	counter("own_key_questions_total", "Times that peers were asked what they heard from this key.", s.OwnQuestions.Load)
	counter("own_key_answers_total", "Answers to these.", s.OwnAnswers.Load)
	counter("own_key_votes_found_total", "Votes of earlier lives of this key that nothing here remembered: their rounds are closed to it.", s.OwnVotesFound.Load)
	counter("own_key_silences_total", "Times that this validator stood still or lost too many others while it voted, and said nothing until it had asked again.", s.Silences.Load)
	gauge("closed_view", "Current view if the double-sign protection keeps votes from it, else 0.", func() float64 { return float64(s.ClosedView.Load()) })
	counter("fetches_sent_total", "Requests to peers for what this node lacks.", s.FetchesSent.Load)
	counter("fetches_failed_total", "Requests that were not answered in time.", s.FetchesFailed.Load)
	counter("blocks_served_total", "Blocks sent to peers that were behind.", s.BlocksServed.Load)
	counter("answers_refused_total", "Requests not answered because too many of the same peer, or of full nodes, were before them.", s.AnswersRefused.Load)
	counter("answers_again_bytes_total", "Bytes of blocks sent to validators that had been sent them before.", s.AgainBytes.Load)
	counter("answers_withheld_total", "Answers, or blocks of one, not sent to a validator that had been sent them before and has used up its budget.", s.AgainWithheld.Load)
	counter("archive_failures_total", "Stored blocks that could not be read for a peer: see the log.", s.ArchiveFailures.Load)
	gauge("watching", "1 while the start listens for another life of this key and does not vote.", func() float64 {
		if s.Watching.Load() {
			return 1
		}
		return 0
	})
	counter("equivocations_total", "Conflicting votes or proposals seen.", s.Equivocations.Load)
	counter("journal_syncs_total", "Vote journal syncs.", s.Syncs.Load)
}
