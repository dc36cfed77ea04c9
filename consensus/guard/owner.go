package guard

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
)

// The third page of the file names the process that owns it, by a number that it
// drew. A process takes it over before its first write, by three steps in this
// order: it writes its number, syncs, and reads the slots. Each later write is
// followed by a look at the owner, before anything leaves. So of two processes that
// write at the same moment either the older one finds the younger's number and lets
// nothing leave, or it looked before that was written: then the younger one, which
// reads the slots afterwards, finds the older one's words (docs/adr/0105).
const (
	ownerAt    = 2 * slotBytes
	ownerMagic = "cbowner1"
	ownerBytes = len(ownerMagic) + 16
)

// owner is what the third page begins with; the zero value is nobody's.
type owner [ownerBytes]byte

// claim makes this process the owner of the file.
func (g *Guard) claim() error {
	var next owner
	copy(next[:], ownerMagic)
	if _, err := rand.Read(next[len(ownerMagic):]); err != nil {
		return fmt.Errorf("draw an instance: %w", err)
	}
	page := make([]byte, slotBytes)
	copy(page, next[:])
	if _, err := g.file.WriteAt(page, ownerAt); err != nil {
		return err
	}
	if err := g.file.Sync(); err != nil {
		return err
	}
	now := Guard{id: g.id, file: g.file}
	if err := now.load(); err != nil {
		return err
	}
	if now.sequence != g.sequence || now.stored != g.stored {
		return ErrFenced // somebody signed since we read it
	}
	g.owner = next
	return nil
}

// owns fails if another process has taken the file over.
func (g *Guard) owns() error {
	var b owner
	if _, err := g.file.ReadAt(b[:], ownerAt); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(b[:], g.owner[:]) {
		return ErrFenced
	}
	return nil
}
