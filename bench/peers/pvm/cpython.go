package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// driver runs the script once per line of input and answers what it printed.
const driver = `
import sys, io, json
code = compile(json.loads(sys.stdin.readline()), "kernel.py", "exec")
out = sys.stdout
for line in sys.stdin:
    sys.stdout = io.StringIO()
    exec(code, {"__name__": "__main__"})
    text = sys.stdout.getvalue()
    out.write(json.dumps(text) + "\n")
    out.flush()
`

// python is a CPython process with a script in it.
type python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// errNoPython says how to get the peer.
var errNoPython = errors.New("there is no CPython 3.11 on this machine (set PYTHON311)")

func startPython(src []byte) (*python, error) {
	name := os.Getenv("PYTHON311")
	if name == "" {
		name = "python3.11"
	}
	version, err := exec.Command(name, "-c", "import sys; print(sys.implementation.name, *sys.version_info[:2])").Output()
	if err != nil || strings.TrimSpace(string(version)) != "cpython 3 11" {
		return nil, errNoPython
	}
	cmd := exec.Command(name, "-I", "-c", driver)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &python{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := json.Marshal(string(src))
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(in, "%s\n", line)
	return p, err
}

// run runs the script once and returns what it printed.
func (p *python) run() (string, error) {
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		return "", err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("CPython: %w", err)
	}
	var text string
	return text, json.Unmarshal([]byte(line), &text)
}

func (p *python) close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.cmd.Wait()
}
