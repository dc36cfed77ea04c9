package p2p

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
)

// link is one connection to a peer, from the handshake to its end.
type link struct {
	t      *Transport
	conn   *quic.Conn
	peer   *peer
	dialed bool // by us

	// Of the peer's greeting; written before greeted is closed.
	instance     uint64
	version      uint16
	capabilities uint64

	greeted chan struct{} // closed when the peer's hello has come
	active  chan struct{} // closed when it is decided whether the link is used
	retire  context.CancelFunc
	writing context.Context // ends when another link takes over

	billed     uint64  // bytes to a full node that its budget has paid for; of the holder of peer.line
	neighbours members // whom the peer is connected to, as it says here; guarded by peer.mu

	mu     sync.Mutex
	opened [NumClasses]bool // streams that the peer has opened
}

// lingerFor lets what is under way on a superseded connection arrive.
const lingerFor = time.Second

// writeBatchBytes is how much one write puts together from small messages.
const writeBatchBytes = 64 << 10

// run greets the peer, decides with it which connection of the pair is used,
// and carries messages until the connection ends. It returns why.
func (l *link) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	failed := make(chan error, 1)
	part := func(f func(context.Context) error) {
		parts.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				select {
				case failed <- err:
				default: // an earlier one ends the link
				}
			}
		})
	}
	l.writing, l.retire = context.WithCancel(ctx)
	defer l.retire()
	part(func(ctx context.Context) error { return l.accept(ctx, part) })
	part(l.gossip)
	if !l.peer.member {
		part(l.listen)
	}
	err := l.awaitGreeting(ctx, failed)
	if err == nil {
		for class := Votes; class < NumClasses; class++ {
			part(func(context.Context) error { return l.write(class) })
		}
		err = l.wait(ctx, failed)
	}
	l.t.deactivate(l)
	l.close(err)
	return err
}

// awaitGreeting waits for the greeting and finds out whether the link is used.
func (l *link) awaitGreeting(ctx context.Context, failed <-chan error) error {
	timer := time.NewTimer(l.t.cfg.HandshakeTimeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.conn.Context().Done():
		return context.Cause(l.conn.Context())
	case err := <-failed:
		return err
	case <-l.peer.evicted:
		return ErrFull
	case <-timer.C:
		return fmt.Errorf("none in %v: %w", l.t.cfg.HandshakeTimeout, ErrHello)
	case <-l.greeted:
	}
	err := l.t.activate(l)
	close(l.active)
	return err
}

// wait returns when the link has ended, or has lingered after it was retired.
func (l *link) wait(ctx context.Context, failed <-chan error) error {
	var linger <-chan time.Time
	retired := l.writing.Done()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.conn.Context().Done():
			return context.Cause(l.conn.Context())
		case err := <-failed:
			return err
		case <-l.peer.evicted:
			return ErrFull
		case <-retired:
			timer := time.NewTimer(lingerFor)
			defer timer.Stop()
			linger, retired = timer.C, nil
		case <-linger:
			return errDuplicate
		}
	}
}

// errDuplicate ends a connection of a pair that has another one.
var errDuplicate = errors.New("the pair has another connection")

// close tells the peer why.
func (l *link) close(err error) {
	code, text := closeNormal, ""
	switch {
	case errors.Is(err, errDuplicate):
		code, text = closeDuplicate, err.Error()
	case errors.Is(err, ErrBanned):
		code, text = closeBanned, err.Error()
	case errors.Is(err, ErrFull):
		code, text = closeFull, err.Error()
	case errors.Is(err, ErrStalled):
		l.t.Stats.Stalled.Add(1)
		text = err.Error()
	case isViolation(err):
		code, text = closeViolation, err.Error()
		l.peer.stats.violations.Add(1)
		l.t.ban(l.peer, l.conn.RemoteAddr())
	}
	_ = l.conn.CloseWithError(code, text) // the connection may be gone already
}

// violation marks an error as the peer's fault.
type violation struct{ err error }

func (v *violation) Error() string { return v.err.Error() }
func (v *violation) Unwrap() error { return v.err }

func isViolation(err error) bool {
	var v *violation
	return errors.As(err, &v)
}

// accept takes the peer's streams, one for each class.
func (l *link) accept(ctx context.Context, part func(func(context.Context) error)) error {
	for {
		stream, err := l.conn.AcceptUniStream(ctx)
		if err != nil {
			return err
		}
		part(func(ctx context.Context) error { return l.read(ctx, stream) })
	}
}

// How much is read of a stream before it is wanted. Of a guest's it is a few requests: what
// is read lets it send more, and each packet costs us.
const (
	readAhead      = 16 << 10
	guestReadAhead = 256
)

// read carries one stream of the peer to its receiver.
func (l *link) read(ctx context.Context, stream *quic.ReceiveStream) error {
	_ = stream.SetReadDeadline(time.Now().Add(l.t.cfg.HandshakeTimeout))
	ahead := readAhead
	if !l.peer.member {
		ahead = guestReadAhead
	}
	in := bufio.NewReaderSize(stream, ahead)
	first, err := in.ReadByte()
	if err != nil {
		return readError(err)
	}
	class := Class(first)
	if class >= NumClasses {
		return l.unknownStream(ctx, stream, first)
	}
	if !l.claim(class) {
		return &violation{fmt.Errorf("class %d: %w", first, ErrStream)}
	}
	_ = stream.SetReadDeadline(time.Time{})
	if class == Control {
		return l.readControl(ctx, stream, in)
	}
	select { // until then nothing is read
	case <-l.active:
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.readFrames(ctx, stream, in, class)
}

// unknownStream judges a stream of a class that we do not know: a newer peer's is left
// unread.
func (l *link) unknownStream(ctx context.Context, stream *quic.ReceiveStream, class byte) error {
	select {
	case <-l.greeted:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.forgive(fmt.Errorf("stream of class %d: %w", class, ErrUnknown)); err != nil {
		return err
	}
	stream.CancelRead(0)
	return nil
}

// forgive makes an error the peer's fault, unless the peer knows more than we do and
// said something that we do not know.
func (l *link) forgive(err error) error {
	if !errors.Is(err, ErrUnknown) || l.version <= l.t.cfg.Version {
		return &violation{err}
	}
	l.t.Stats.NewerIgnored.Add(1)
	return nil
}

// claim reports whether the class has no stream yet.
func (l *link) claim(class Class) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened[class] {
		return false
	}
	l.opened[class] = true
	return true
}

// readFrames delivers frame after frame at the rate that the peer may have.
func (l *link) readFrames(ctx context.Context, stream *quic.ReceiveStream, in io.Reader, class Class) error {
	limit := l.peer.limits[class]
	now := time.Now()
	messages := newBucket(limit.MessagesPerSecond, limit.MessagesBurst, now)
	bytes := newBucket(limit.BytesPerSecond, limit.BytesBurst, now)
	for {
		msg, err := l.readFrame(stream, in, limit.FrameBytesMax)
		if err != nil {
			return err
		}
		now := time.Now()
		l.peer.stats.received[class].add(1, len(msg))
		l.peer.stats.lastReceived.Store(now.UnixMilli())
		if err := l.deliver(ctx, class, msg); err != nil {
			return err
		}
		wait := max(messages.take(1, now), bytes.take(float64(len(msg)), now))
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// readFrame reads a frame, which once begun must come to its end in time.
func (l *link) readFrame(stream *quic.ReceiveStream, in io.Reader, bytesMax int) ([]byte, error) {
	msg, err := readFrame(in, bytesMax, func(size int) {
		rate := time.Duration(size) * time.Second / time.Duration(l.t.cfg.MinFrameRate)
		_ = stream.SetReadDeadline(time.Now().Add(l.t.cfg.FrameTimeout + rate))
	})
	if err != nil {
		return nil, readError(err)
	}
	_ = stream.SetReadDeadline(time.Time{})
	return msg, nil
}

// readError tells the peer's faults from the ends of connections.
func readError(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, ErrFrame):
		return &violation{err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &violation{fmt.Errorf("stream closed: %w", ErrStream)} // streams live as long as the connection
	case errors.As(err, new(*quic.StreamError)):
		return &violation{fmt.Errorf("stream reset: %w", ErrStream)}
	case errors.As(err, new(*quic.IdleTimeoutError)):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrStalled // as packets that are lost on the way do
	}
	return err
}

// Waits between offers to a busy receiver.
const (
	busyWaitMin = time.Millisecond
	busyWaitMax = 20 * time.Millisecond
)

// deliver hands a message over.
func (l *link) deliver(ctx context.Context, class Class, msg []byte) error {
	if class == Transactions {
		return l.deliverTransactions(ctx, msg)
	}
	if !l.peer.member {
		if err := l.drained(ctx); err != nil {
			return err
		}
		if class == Fetch || class == State {
			if err := l.affordReads(ctx); err != nil {
				return err
			}
		}
	}
	return l.insist(ctx, func() (bool, error) {
		err := l.t.receiver.Deliver(l.peer.id, class, msg)
		return false, err
	})
}

// deliverTransactions hands over what is new in a frame, piece by piece if the
// receiver has no room for all of it.
func (l *link) deliverTransactions(ctx context.Context, frame []byte) error {
	if err := sleep(ctx, l.peer.paused(time.Now())); err != nil { // before they count as seen
		return err
	}
	bodies, err := l.t.flood.fresh(frame)
	if err != nil {
		return &violation{err}
	}
	if len(bodies) == 0 {
		return nil
	}
	err = l.insist(ctx, func() (bool, error) {
		taken, err := l.t.receiver.Transactions(l.peer.id, bodies)
		bodies = bodies[taken:]
		if err == nil && len(bodies) > 0 {
			err = ErrBusy
		}
		return taken > 0, err
	})
	if err != nil { // the link ends, and others bring what it did not hand over
		l.t.flood.forget(bodies)
	}
	return err
}

// insist calls hand again and again while the receiver is busy: meanwhile
// nothing is read, and the peer runs out of stream credit. Progress makes the
// wait short again.
func (l *link) insist(ctx context.Context, hand func() (progress bool, err error)) error {
	for wait := busyWaitMin; ; wait = min(2*wait, busyWaitMax) {
		progress, err := hand()
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrBusy) {
			return l.forgive(err)
		}
		if progress {
			wait = busyWaitMin
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// write sends what waits in one class until another link takes over.
func (l *link) write(class Class) error {
	q := l.peer.queues[class]
	var stream *quic.SendStream
	var out io.Writer
	var msgs [][]byte
	var buf []byte
	q.wake() // the link before may have taken the token with it
	for {
		select {
		case <-l.writing.Done():
			return nil
		case <-q.ready:
			if l.writing.Err() != nil {
				q.wake() // the token is the next link's
				return nil
			}
		}
		if !l.peer.member && class == Certificates && sleep(l.writing, guestGather) != nil {
			q.wake() // the next link's
			return nil
		}
		if msgs = q.popInto(msgs[:0], writeBatchBytes); len(msgs) == 0 {
			continue
		}
		buf = buf[:0]
		if stream == nil {
			var err error
			if stream, err = l.open(class); err != nil {
				return err
			}
			out = l.out(class, stream)
			buf = append(buf, byte(class))
		}
		size, err := writeFrames(out, buf, msgs)
		if err != nil {
			return err
		}
		l.peer.stats.sent[class].add(len(msgs), size)
		clear(msgs)
	}
}

// writeFrames writes prefix and messages in few writes and returns the size of
// the messages. A large message is not copied: its length goes out with what
// is before it.
func writeFrames(w io.Writer, prefix []byte, msgs [][]byte) (size int, err error) {
	buf := prefix
	for _, msg := range msgs {
		size += len(msg)
		if len(msg) <= writeBatchBytes {
			buf = appendFrame(buf, msg)
			continue
		}
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(msg)))
		if _, err := w.Write(buf); err != nil {
			return 0, err
		}
		if _, err := w.Write(msg); err != nil {
			return 0, err
		}
		buf = buf[:0]
	}
	if len(buf) > 0 {
		_, err = w.Write(buf)
	}
	return size, err
}

func (l *link) open(class Class) (*quic.SendStream, error) {
	stream, err := l.conn.OpenUniStream()
	if err != nil {
		return nil, fmt.Errorf("open %s stream: %w", class, err)
	}
	stream.SetPriority(class.urgency(), true)
	return stream, nil
}

// sleep waits for d, if that is above 0, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
