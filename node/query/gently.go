package query

import (
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/nice"
)

// gently calls f on a thread of low priority, so that no reader takes a core from
// consensus, and waits for it. A panic of f is the reader's error, and not the node's.
func gently(f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = exec.Panicked(p)
			}
		}()
		nice.Thread()
		err = f()
	}()
	<-done
	return err
}
