package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// server is a node that this process started.
type server struct {
	host  string // of its API
	admin string // of its metrics and profiles, if it has any
	dir   string
	cmd   *exec.Cmd
	ended chan error
}

// stopWait is how long a node may take to stop.
const stopWait = 30 * time.Second

// start runs a program, which dies with this process, in a folder that its log is
// written to.
func start(dir, host, program string, args ...string) (*server, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("log of the node: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	s := &server{host: host, dir: dir, cmd: cmd, ended: make(chan error, 1)}
	go func() { s.ended <- cmd.Wait() }()
	return s, nil
}

// errEnded means that the node did not live until it was asked.
var errEnded = errors.New("the node ended by itself")

// ready waits until the node listens.
func (s *server) ready(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", s.host); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-s.ended:
			s.ended <- err
			return fmt.Errorf("%w: %w\n%s", errEnded, err, s.logTail())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s does not listen after a minute\n%s", s.host, s.logTail())
}

// stop asks the node to end, and ends it if it does not.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
		return nil
	case <-time.After(stopWait):
		_ = s.cmd.Process.Kill()
		<-s.ended
		return fmt.Errorf("the node did not stop within %v", stopWait)
	}
}

// processes are the node's own and those that it started.
func (s *server) processes() []int {
	pids := []int{s.cmd.Process.Pid}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return pids
	}
	parent := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// Behind the name, which may hold anything: state, parent.
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 1 {
			parent[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	for i := 0; i < len(pids); i++ {
		for pid, of := range parent {
			if of == pids[i] {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// logTail is the end of what the node wrote.
func (s *server) logTail() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

// freePorts finds n consecutive ports of loopback that nobody listens on.
func freePorts(n int) (first int, err error) {
	for range 100 {
		first, err = freeRun(n)
		if err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("find %d free ports: %w", n, err)
}

func freeRun(n int) (first int, err error) {
	for i := range n {
		port := 0 // any
		if i > 0 {
			port = first + i
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return 0, err
		}
		defer l.Close()
		if i == 0 {
			first = l.Addr().(*net.TCPAddr).Port
		}
	}
	return first, nil
}
