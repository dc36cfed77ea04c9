package p2p

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/porttest"
)

// A question that is sent before a link stands is lost (hostile.md §8, watch (b)).
// Whoever is told of links sends it then, and to each process that takes over: it
// arrives without a repetition.
func TestLinksAreTold(t *testing.T) {
	ports := porttest.UDP(t, 2)
	told, gone := make(chan int, 16), make(chan int, 16)
	s := setup{testKeys(2), func(i int, cfg *Config) {
		cfg.ListenAddr = ports[i]
		cfg.Addresses[cfg.Committee[1-i]] = ports[1-i]
		cfg.IdleTimeout, cfg.KeepAlive = 10*time.Minute, time.Minute // longer than anybody waits here
		if i == 0 {
			cfg.Lost = func(peer int) { gone <- peer }
			cfg.Linked = func(peer int) { told <- peer }
		}
	}}
	a := launch(t, s.config(0))
	a.Broadcast(Fetch, []byte("too early"))
	ask := func(what string, of *node) {
		t.Helper()
		select {
		case peer := <-told:
			if peer != 1 {
				t.Fatalf("%s: told of %d", what, peer)
			}
			a.Send(peer, Fetch, []byte(what))
		case <-time.After(time.Minute):
			t.Fatalf("%s: nobody is told", what)
		}
		eventually(t, what+" is asked", func() bool { return of.sink.count(Fetch, 0) > 0 })
		of.sink.mu.Lock()
		defer of.sink.mu.Unlock()
		for _, msg := range of.sink.got[Fetch][0] {
			if string(msg) == "too early" {
				t.Errorf("%s: the early question arrived", what)
			}
		}
	}
	b := launch(t, s.config(1))
	ask("the first process", b)
	b.dead = true
	_ = b.socket.Close() // as SIGKILL does: no packet says goodbye
	for len(told) > 0 {
		<-told // of two connections that were made at once
	}
	next := launch(t, s.config(1))
	ask("its successor", next)
	for len(gone) > 0 {
		<-gone // a loss between the two
	}
	next.stop()
	select {
	case peer := <-gone:
		if peer != 1 {
			t.Errorf("lost %d", peer)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody is told of the loss")
	}
	a.Broadcast(Votes, []byte("said in ignorance"))
	a.Forget(Votes)
	last := launch(t, s.config(1))
	ask("a third process", last)
	a.Broadcast(Votes, []byte("said later"))
	eventually(t, "the vote arrives", func() bool { return last.sink.count(Votes, 0) > 0 })
	last.sink.mu.Lock()
	defer last.sink.mu.Unlock()
	if first := string(last.sink.got[Votes][0][0]); first != "said later" {
		t.Errorf("%q arrived", first)
	}
}
