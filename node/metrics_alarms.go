package node

import "github.com/prometheus/client_golang/prometheus"

// alarmMetrics turns the alarms into series with a label for the part.
type alarmMetrics struct {
	alarms     *alarms
	on, raised *prometheus.Desc
}

func newAlarmMetrics(a *alarms) *alarmMetrics {
	return &alarmMetrics{
		alarms: a,
		on:     prometheus.NewDesc("cowboy_alarm", "1 while a part of the node that consensus can do without fails, or its clock is wrong; /health says what.", []string{"part"}, nil),
		raised: prometheus.NewDesc("cowboy_alarms_raised_total", "How often the part's alarm was raised.", []string{"part"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *alarmMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.on
	ch <- m.raised
}

// Collect implements prometheus.Collector.
func (m *alarmMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, part := range allAlarms {
		on, raised := m.alarms.stateOf(part)
		value := 0.0
		if on {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(m.on, prometheus.GaugeValue, value, string(part))
		ch <- prometheus.MustNewConstMetric(m.raised, prometheus.CounterValue, float64(raised), string(part))
	}
}

// partMetrics turns the parts that are started again into series with a label.
type partMetrics struct {
	restarts       *restarts
	down, failures *prometheus.Desc
}

func newPartMetrics(r *restarts) *partMetrics {
	return &partMetrics{
		restarts: r,
		down:     prometheus.NewDesc("cowboy_part_down", "1 while a part of the node that consensus can do without has failed and not run again for five seconds.", []string{"part"}, nil),
		failures: prometheus.NewDesc("cowboy_part_failures_total", "How often the part failed and was started again.", []string{"part"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *partMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.down
	ch <- m.failures
}

// Collect implements prometheus.Collector.
func (m *partMetrics) Collect(ch chan<- prometheus.Metric) {
	for p := range numParts {
		if parts[p].fate != fateAgain {
			continue
		}
		down, failures := m.restarts.stateOf(p)
		value := 0.0
		if down {
			value = 1
		}
		ch <- prometheus.MustNewConstMetric(m.down, prometheus.GaugeValue, value, p.String())
		ch <- prometheus.MustNewConstMetric(m.failures, prometheus.CounterValue, float64(failures), p.String())
	}
}

// clockMetrics exports what this node thinks of its own clock.
func (n *Node) clockMetrics(counter counterFunc, gauge gaugeFunc) {
	gauge("clock_head_lead_seconds", "Timestamp of the newest final block less this node's clock: usually below 0, by the block's age.",
		func() float64 { return n.ledger.ClockLead().Seconds() })
	gauge("clock_wait_seconds", "Time until this node's clock has come up to the newest final block less the permitted drift; until then it proposes nothing and votes for nothing new.",
		func() float64 { return n.ledger.ClockBehind().Seconds() })
	counter("early_proposals_total", "Own proposals that left before the block time had passed, for the pool held enough (--min-block-time).", n.ledger.Stats.Early.Load)
	counter("clock_waits_total", "Own proposals that waited for this node's clock to come up to their parent.", n.ledger.Stats.ClockWaits.Load)
}
