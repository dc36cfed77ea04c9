package transcript

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/porttest"
)

var run = flag.Bool("transcripts", false, "run the pages of docs/ on devnets: a minute each")

// pages are those that are run.
var pages = []string{"job-walk.md"}

// pageTime is how long the commands of a page may take.
const pageTime = 4 * time.Minute

// command is one of a page.
type command struct {
	line   int
	text   string   // several lines, if some are continued
	output []string // what it prints; … stands for anything within a line
}

// page is what is read out of a file.
type page struct {
	devnet   []string // the arguments of cowboyd that start its chain
	commands []command
}

// read finds the commands of a page: indented lines that begin with $, continued by those that
// begin with >, each with the lines of output behind it. Its chain is an indented line that
// begins with cowboyd devnet.
func read(text string) (p page) {
	inside := false // the output of the last command may go on
	for n, line := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented:
			inside = false
		case strings.HasPrefix(code, "cowboyd devnet"):
			command, _, _ := strings.Cut(code, "#")
			p.devnet = strings.Fields(command)[1:]
		case strings.HasPrefix(code, "$ "):
			p.commands = append(p.commands, command{line: n + 1, text: code[2:]})
			inside = true
		case inside && strings.HasPrefix(code, "> "):
			last := &p.commands[len(p.commands)-1]
			last.text += "\n" + code[2:]
		case inside:
			last := &p.commands[len(p.commands)-1]
			last.output = append(last.output, code)
		}
	}
	return p
}

// fits reports whether a line is what the page says.
func fits(want, got string) bool {
	parts := strings.Split(want, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// differs says how an output is not that of a command; "" if it is.
func (c *command) differs(output string) string {
	got := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	if output == "" {
		got = nil
	}
	for i, want := range c.output {
		if i >= len(got) || !fits(want, got[i]) {
			return fmt.Sprintf("want %q in line %d of its output:\n%s", want, i+1, output)
		}
	}
	if len(got) > len(c.output) {
		return fmt.Sprintf("it prints more than the page says, from %q on:\n%s", got[len(c.output)], output)
	}
	return ""
}

// TestRead reads a page, and compares outputs that fit and that do not.
func TestRead(t *testing.T) {
	p := read("# T\n\n    make build\n    cowboyd devnet --validators 4     # stays\n\ntext\n\n    $ echo 'a\n    > b'; echo c\n    a\n    b…\n    $ true\n\n    not output\n")
	if got := strings.Join(p.devnet, " "); got != "devnet --validators 4" || len(p.commands) != 2 {
		t.Fatalf("%+v", p)
	}
	c := p.commands[0]
	if c.text != "echo 'a\nb'; echo c" || c.line != 8 || strings.Join(c.output, "|") != "a|b…" || p.commands[1].output != nil {
		t.Fatalf("%+v", p.commands)
	}
	for output, ok := range map[string]bool{"a\nb and so on\n": true, "a\nb\n": true, "a\n": false, "a\nc\n": false, "a\nb\nc\n": false, "": false} {
		if got := c.differs(output); (got == "") != ok {
			t.Errorf("%q: %s", output, got)
		}
	}
	if p.commands[1].differs("") != "" || p.commands[1].differs("x\n") == "" {
		t.Error("a command without output")
	}
}

// TestTranscripts runs every page.
func TestTranscripts(t *testing.T) {
	if !*run {
		t.Skip("a minute for each page: make transcripts runs them")
	}
	programs := t.TempDir()
	build := exec.Command("go", "build", "-o", programs+"/", "./cmd/cowboy", "./cmd/cowboyd")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, name := range pages {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../../docs", name))
			if err != nil {
				t.Fatal(err)
			}
			play(t, read(string(text)), programs)
		})
	}
}

// play starts the chain of a page and runs its commands.
func play(t *testing.T, p page, programs string) {
	if len(p.devnet) == 0 || len(p.commands) == 0 {
		t.Fatal("the page has no chain or no commands")
	}
	work := t.TempDir()
	api := startDevnet(t, p.devnet, programs, work)
	ctx, cancel := context.WithTimeout(t.Context(), pageTime)
	defer cancel()
	outputs := t.TempDir()
	var script strings.Builder
	for i, c := range p.commands {
		text := strings.ReplaceAll(c.text, "127.0.0.1:4000", api)
		fmt.Fprintf(&script, "{ %s\n} > %s/%d 2>&1 < /dev/null\n", text, outputs, i)
		fmt.Fprintf(&script, "echo $? > %s/%d.code\n", outputs, i)
	}
	shell := exec.CommandContext(ctx, "bash", "-c", script.String())
	shell.Dir = work
	shell.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+work)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	if err := shell.Run(); err != nil && ctx.Err() == nil {
		t.Logf("the shell: %v", err) // the last command says why
	}
	for i, c := range p.commands {
		output, _ := os.ReadFile(fmt.Sprintf("%s/%d", outputs, i))
		code, err := os.ReadFile(fmt.Sprintf("%s/%d.code", outputs, i))
		if err != nil {
			t.Fatalf("line %d, %s: it did not end within %v; so far:\n%s", c.line, c.text, pageTime, output)
		}
		if why := c.differs(string(output)); why != "" {
			t.Errorf("line %d, %s: exit code %s%s", c.line, c.text, code, why)
		}
	}
}

// startDevnet starts a chain on ports of its own, and returns the address of the API when
// it answers.
func startDevnet(t *testing.T, args []string, programs, work string) (api string) {
	t.Helper()
	offset := porttest.First(t, 0, 1, 3, 10, 11, 13, 20, 21, 23, 30, 31, 33) - 4000
	api = fmt.Sprintf("127.0.0.1:%d", 4000+offset)
	log, err := os.Create(filepath.Join(work, "devnet.log"))
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command(filepath.Join(programs, "cowboyd"), append(args, "--port-offset", fmt.Sprint(offset))...)
	node.Dir, node.Stdout, node.Stderr = work, log, log
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Signal(os.Interrupt)
		_ = node.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the chain's log:\n%s", text)
		}
		_ = log.Close()
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if r, err := http.Get("http://" + api + "/block/1"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return api
			}
		}
	}
	t.Fatal("the chain made no block within a minute")
	return ""
}
