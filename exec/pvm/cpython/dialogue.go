package cpython

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Dialogue is a running program that answers one line after the other. It ends with
// the test.
type Dialogue struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// Start runs a script file.
func Start(t testing.TB, script string) *Dialogue {
	t.Helper()
	cmd := exec.Command(Path(t), script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	})
	return &Dialogue{t, in, bufio.NewReaderSize(out, 1<<20)}
}

// Ask sends a line and returns the first line of the answer.
func (d *Dialogue) Ask(line string) string {
	d.t.Helper()
	if _, err := fmt.Fprintln(d.in, line); err != nil {
		d.t.Fatalf("ask CPython: %v", err)
	}
	head, err := d.out.ReadString('\n')
	if err != nil {
		d.t.Fatalf("CPython on %.100s: %v", line, err)
	}
	return strings.TrimSuffix(head, "\n")
}

// Rest returns the next n bytes of the answer.
func (d *Dialogue) Rest(n int) string {
	d.t.Helper()
	buf := make([]byte, n)
	if _, err := io.ReadFull(d.out, buf); err != nil {
		d.t.Fatalf("answer of CPython: %v", err)
	}
	return string(buf)
}
