package engine

import (
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Views end by nullification when links or the execution of blocks take longer than
// the parameters of the chain allow, and those can be changed only by a block. So the
// waits of a view grow here, by themselves, while views end without a block, and fall
// back with the first blocks. They need no agreement: the majority that waits long
// enough is enough, and all that see the same views fail come to about the same.

const (
	// growAfter is how many views in a row may end without a block before the waits
	// grow: a leader that is down costs one, and two in a row are no sign of anything.
	growAfter = 2
	growth    = 1.5
)

// patience is by how much the waits of a view are longer than the parameters say.
type patience struct {
	factor  float64    // at least 1; 0 means 1
	lost    int        // views in a row that ended without a block, or that we gave up
	view    chain.View // the current one
	gaveUp  chain.View // the newest that we voted to give up: its block, if it has one, lacks our vote to be final
	entered time.Time
}

// viewEnded takes note of how the view before v ended. most is the longest factor.
func (p *patience) viewEnded(now time.Time, v chain.View, lost bool, most float64) {
	p.factor = max(1, p.factor)
	p.lost++
	if !lost {
		p.lost = 0
	} else if p.lost > growAfter {
		p.factor = max(p.factor, min(p.factor*growth, most))
	}
	p.view, p.entered = v, now
}

// took takes note of how long a view with a block took, of a certification timeout:
// the waits fall back by half, but not below twice that.
func (p *patience) took(took, timeout time.Duration) {
	need := 2 * took.Seconds() / timeout.Seconds()
	p.factor = max(1, min(p.factor, max(need, p.factor/2)))
}

// timing returns the waits of a view as they are now.
func (c *Config) timing() Timing {
	wait := Timing{c.LeaderTimeout, c.CertificationTimeout, c.RetryInterval}
	if c.Timing != nil {
		wait = c.Timing()
	}
	return wait
}

// viewBegins takes note of the view that begins, for its waits, and of the certificates that
// ended the one before. It returns by how much they are longer now.
func (p *patience) viewBegins(now time.Time, v chain.View, certificates knower, c *Config) (factor float64) {
	wait := c.timing()
	last := v - 1
	block := certificates.Knows(last, simplex.Notarize) || certificates.Knows(last, simplex.Finalize)
	lost := p.gaveUp == last || !block && certificates.Knows(last, simplex.Nullify)
	if !lost && last > 0 && p.view == last {
		p.took(now.Sub(p.entered), wait.CertificationTimeout)
	}
	p.viewEnded(now, v, last > 0 && lost, c.TimeoutMax.Seconds()/wait.CertificationTimeout.Seconds())
	return p.factor
}

// stretch makes a wait longer by what views took lately.
func (p *patience) stretch(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, p.factor))
}
