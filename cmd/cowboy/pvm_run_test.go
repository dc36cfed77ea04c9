package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// script writes a script and answers its file.
func script(t *testing.T, src string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.py")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestProfileOfRun: the lines of --profile add up to the cycles, which are those
// of a run without it.
func TestProfileOfRun(t *testing.T) {
	file := script(t, "import json\ndef f(n):\n    return [str(i) for i in range(n)]\nprint(len(json.dumps(f(100))))\n")
	ask := func(args ...string) (reply profiledReply, errs string) {
		var out, err bytes.Buffer
		w := world{stdin: strings.NewReader(""), stdout: &out, stderr: &err, env: func(string) string { return "" }}
		if code := run(t.Context(), append([]string{"pvm", "run", file}, args...), w); code != exitDone {
			t.Fatalf("exit %d: %s", code, err.String())
		}
		if json.Unmarshal(out.Bytes(), &reply) != nil && out.String() != "491\n" {
			t.Fatalf("printed %q", out.String())
		}
		return reply, err.String()
	}
	plain, _ := ask("--json")
	profiled, _ := ask("--json", "--profile")
	sum := int64(0)
	for _, l := range profiled.Lines {
		sum += l.Cycles
	}
	if plain.Cycles == 0 || profiled.Cycles != plain.Cycles || sum != plain.Cycles || plain.Lines != nil {
		t.Errorf("%d cycles, profiled %d, in lines %d", plain.Cycles, profiled.Cycles, sum)
	}
	if l := profiled.Lines[0]; l.Line != 3 || l.Source != "return [str(i) for i in range(n)]" || l.File != file {
		t.Errorf("the dearest line is %+v", l)
	}
	if _, text := ask("--profile"); !strings.Contains(text, ":3\treturn [str(i)") || !strings.HasSuffix(text, "100.0%  total\n") {
		t.Errorf("as text: %s", text)
	}
}

// TestLongLinesAreCut: of a line of 100,000 characters an error shows what is around its
// place, of one that is not long all.
func TestLongLinesAreCut(t *testing.T) {
	for _, c := range []struct {
		src   string
		shown string
	}{
		{"x = " + strings.Repeat("1+", 50_000) + "1 1", "..."},
		{"x = 'é" + strings.Repeat("é", 50_000), "..."},
		{"   x = 1 1", "    x = 1 1\n"},
		{"def f():\n    x = " + strings.Repeat("0+", 500) + "1/0\nf()", "..."},
	} {
		var out, errs bytes.Buffer
		w := world{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
		if code := run(t.Context(), []string{"pvm", "run", script(t, c.src)}, w); code == exitDone {
			t.Errorf("%.20q...: exit %d", c.src, code)
		}
		if text := errs.String(); len(text) > 800 || !strings.Contains(text, c.shown) || !utf8.ValidString(text) {
			t.Errorf("%.20q...: %d bytes: %.900s", c.src, len(text), text)
		}
	}
}

// TestRunIsInterrupted: a script that never ends ends with the context, and the
// exit code tells the signal.
func TestRunIsInterrupted(t *testing.T) {
	file := script(t, "i = 0\nwhile i < 200000: i += 1\n")
	for _, tt := range []struct {
		cause error
		want  int
	}{{errors.New("interrupt signal received"), exitInterrupted}, {errors.New("terminated signal received"), exitTerminated}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tt.cause)
		var out, err bytes.Buffer
		w := world{stdin: strings.NewReader(""), stdout: &out, stderr: &err, env: func(string) string { return "" }}
		if code := run(ctx, []string{"pvm", "run", file}, w); code != tt.want || out.Len() != 0 {
			t.Errorf("%v: exit %d, want %d: %s", tt.cause, code, tt.want, err.String())
		}
	}
}
