package soak

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Python is the vocabulary of source.
func Python() []string {
	return append(strings.Fields(`False None True and as assert async await break class continue def del elif else except
		finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case
		_ __init__ __class__ __slots__ __dict__ __getattr__ __iter__ __next__ __eq__ __hash__ __del__ self super print len range
		int str list dict set tuple float bytes type object isinstance getattr setattr sorted zip map filter iter next sum min max
		( ) [ ] { } : ; , . ... -> := = == != < <= > >= + - * ** / // % @ & | ^ ~ << >> += -= **= //= >>= @= ! \ # ' " ''' """ f' f" rb' {x!r:>{w}}
		0 1 -1 0x 0b1 1e400 1_0 1j .5 10**100 2**63 1<<1000 'a' b'\xff' f'{x}' "\N{DASH}" '\ud800' f'\udfff{x}' é 中 λ*a,**k *a **k (yield) [x]*1000`),
		"\n", "\n\t", "\n    ", "\n        ", " ", "\n  except* E as e:\n    ", "\n@d\n", "def f():\n    '\\ud800'\n", "class C:\n    '\\U0000dfff'\n", "async for x in y", "async with a as b:", "import json, re, struct, math\n", "match x:\n    case {'a': [1, *b], **c} if d:\n        ")
}

// Sources returns the Python in the folders below root: files of programs, and
// corpora in text files.
func Sources(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(name)
		if ext != ".py" && (ext != ".txt" || !strings.Contains(filepath.ToSlash(name), "attacks/testdata/")) {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, part := range strings.Split("\n"+string(text), "\n#### ") {
			if ext == ".txt" {
				_, part, _ = strings.Cut(part, "\n")
			}
			if part != "" {
				out = append(out, part)
			}
		}
		return err
	})
	return out, err
}

// AddSources adds the Python below root to a target whose first input is a source
// and that has one row already. It does so for a soak only: a test would take long.
func (f *F) AddSources(root string) {
	f.Helper()
	if !f.Soaking() {
		return
	}
	texts, err := Sources(root)
	if err != nil || len(texts) == 0 {
		f.Fatal("no sources: ", err)
	}
	for i, text := range texts {
		row := append([]any(nil), f.rows[i%len(f.rows)]...)
		if _, ok := row[0].([]byte); ok {
			row[0] = []byte(text)
		} else {
			row[0] = text
		}
		f.Add(row...)
	}
}
