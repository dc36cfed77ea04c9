package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func check(t testing.TB, src string, lim Limits) *Report {
	t.Helper()
	mod, err := syntax.Parse([]byte(src), syntax.DefaultLimits())
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	names, err := scope.Analyze(mod, scope.DefaultLimits())
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	report, err := Check(mod, names, lim)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// short writes findings as "LINE:COLUMN RULE", columns from 0.
func short(r *Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%d:%d %s", f.Line, f.Col, f.Rule.ID))
	}
	return strings.Join(all, ", ")
}

// refused has programs for every rule.
var refused = []struct{ src, want string }{
	{"import sys", "1:7 module.system"},
	{"import math, os.path as p", "1:13 module.system"},
	{"from subprocess import run", "1:0 module.system"},
	{"def f():\n import time", "2:8 module.time"},
	{"from datetime import datetime", "1:0 module.time"},
	{"import random", "1:7 module.random"},
	{"import urllib.request", "1:7 module.network"},
	{"import socket", "1:7 module.network"},
	{"import http.client, requests", "1:7 module.network, 1:20 module.network"},
	{"import io", "1:7 module.files"},
	{"from inspect import currentframe", "1:0 module.introspection"},
	{"import gc", "1:7 module.introspection"},
	{"from weakref import *", "1:0 module.weakref"},
	{"import threading, multiprocessing.pool", "1:7 module.threads, 1:18 module.threads"},
	{"from concurrent.futures import ThreadPoolExecutor", "1:0 module.threads"},
	{"import pickle", "1:7 module.pickle"},
	{"import importlib", "1:7 module.dynamic-import"},
	{"import numpy as np", "1:7 module.native"},
	{"import textwrap", "1:7 module.unlisted"},
	{"import __future__", "1:7 module.unlisted"},
	{"from __future__ import annotations, braces", "1:36 module.unlisted"},
	{"import json.decoder", "1:7 module.unlisted"},
	{"import cowboy_sdkx", "1:7 module.unlisted"},
	{"import mathx.y", "1:7 module.unlisted"},
	{"from . import a", "1:0 module.relative"},
	{"from .math import pi", "1:0 module.relative"},
	{"from hashlib import sha256, md5", "1:28 module.hash"},
	{"import math\nmath.pi = 3", "2:0 module.set-attribute"},
	{"import math as m\ndef f(): del m.pi", "2:13 module.set-attribute"},
	{"def f():\n import math\n def g(): math.pi += 1", "3:10 module.set-attribute"},
	{"import json\nsetattr(json, 'dumps', f)", "2:8 module.set-attribute"},
	{"import collections.abc\nfor collections.x in y: pass", "2:4 module.set-attribute"},

	{"eval('1')", "1:0 builtin.reflection"},
	{"f = exec", "1:4 builtin.reflection"},
	{"class C:\n x = [compile for a in b]", "2:6 builtin.reflection"},
	{"def f(x=globals): pass", "1:8 builtin.reflection"},
	{"def f():\n global eval\n return eval", "3:8 builtin.reflection"},
	{"def f(eval): pass\neval", "2:0 builtin.reflection"},
	{"lambda eval=eval: eval", "1:12 builtin.reflection"},
	{"[eval for eval in eval]", "1:18 builtin.reflection"},
	{"f'{eval}'", "1:3 builtin.reflection"},
	{"__import__('os')", "1:0 builtin.import"},
	{"locals(), vars()", "1:0 builtin.namespace, 1:10 builtin.namespace"},
	{"input()\nbreakpoint()\nexit()", "1:0 builtin.console, 2:0 builtin.console, 3:0 builtin.console"},
	{"complex(1, 2)", "1:0 builtin.absent"},
	{"memoryview(b'')", "1:0 builtin.absent"},

	{"f.__globals__", "1:0 attribute.namespace"},
	{"f.__globals__['x'] = 1", "1:0 attribute.namespace"},
	{"__builtins__", "1:0 attribute.namespace"},
	{"__builtins__ = {}", "1:0 attribute.namespace"},
	{"from math import __builtins__", "1:17 attribute.namespace"},
	{"import math as __builtins__", "1:7 attribute.namespace"},
	{"f.__closure__", "1:0 attribute.namespace"},
	{"a + f.__code__.co_code", "1:4 attribute.code"},
	{"g.gi_frame.f_back", "1:0 attribute.frame, 1:0 attribute.frame"},
	{"match f:\n case C(__globals__=g): pass", "2:6 attribute.namespace"},
	{"e.__traceback__.tb_frame", "1:0 attribute.traceback, 1:0 attribute.traceback"},
	{"().__class__.__bases__[0].__subclasses__()", "1:0 attribute.subclasses"},
	{"__loader__", "1:0 attribute.import-machinery"},
	{"json.__spec__", "1:0 attribute.import-machinery"},
	{"C.__weakref__", "1:0 attribute.weakref"},
	{"x.__reduce_ex__(2)", "1:0 attribute.pickle"},

	{"class C:\n def __del__(self): pass", "2:1 memory.finalizer"},
	{"class C:\n async def __del__(self): pass", "2:1 memory.finalizer"},
	{"class C:\n __del__ = f", "2:1 memory.finalizer"},
	{"class C:\n from math import pi as __del__", "2:18 memory.finalizer"},
	{"class C:\n class __del__: pass", "2:1 memory.finalizer"},
	{"C.__del__ = f", "1:0 memory.finalizer"},
	{"class C:\n match x:\n  case __del__: pass", "3:7 memory.finalizer"},

	{"x is 'a'", "1:0 identity.literal"},
	{"1 is not x", "1:0 identity.literal"},
	{"x is -1.5", "1:0 identity.literal"},
	{"x is f'a'", "1:0 identity.literal"},
	{"a < b is 3 is c", "1:0 identity.literal, 1:0 identity.literal"},

	{"open('/etc/passwd')", "1:0 files.outside-scratch"},
	{"with open('/tmp/../etc/passwd') as f: pass", "1:5 files.outside-scratch"},
	{"open('data')", "1:0 files.outside-scratch"},
	{"open('/tmp')", "1:0 files.outside-scratch"},
	{"open('/tmpx/a')", "1:0 files.outside-scratch"},
}

func TestRefused(t *testing.T) {
	tested := map[ID]bool{}
	for _, c := range refused {
		r := check(t, c.src, DefaultLimits())
		if got := short(r); got != c.want || r.Clean() {
			t.Errorf("%q: %q, want %q", c.src, got, c.want)
		}
		for _, f := range r.Findings {
			tested[f.Rule.ID] = true
		}
	}
	for _, r := range Rules() {
		if !tested[r.ID] {
			t.Errorf("no program breaks rule %s", r.ID)
		}
	}
}

// TestPassed has what is near a rule and does not break it, and actors in the
// manner of the whitepaper's.
func TestPassed(t *testing.T) {
	for _, src := range []string{
		"import collections, dataclasses, enum, functools, itertools, json, re, struct, math, decimal, typing, abc, hashlib, cowboy_sdk",
		"import base64, cbor2, hmac, operator, string",
		"from collections.abc import Mapping\nimport collections.abc\nfrom cowboy_sdk.vrf import random\nfrom cowboy_sdk import secrets, rent, storage",
		"from hashlib import keccak256, sha256 as s\nfrom math import *",
		"def f(input, vars, *, open, eval=1): return input, vars, open('x'), eval",
		"class C:\n def compile(self): return self.compile\n def open(self): pass",
		"from __future__ import annotations, division",
		"from re import compile\ncompile('a')",
		"def compile(x): pass\ncompile(1)",
		"def f():\n global exit\n exit = 1\ndef g(): return exit",
		"def f():\n input = 1\n return lambda: input",
		"[vars for vars in a]",
		"x is None, x is not True, x is y, x == 'a', x is (), x is ..., x is (not 1)",
		"match x:\n case 1 | 'a' | None: pass",
		"open('/tmp/a')\nopen('/tmp/b/../c', 'w')\nopen(name)\nopen(f'/tmp/{x}')",
		"x.__dict__, x.__class__, C.__bases__, C.__mro__, C.__name__, f.__wrapped__, x.__init__, x.__slots__",
		"if __name__ == '__main__': pass",
		"import math\nfrom cowboy_sdk import math\nmath.x = 1",
		"import math\nmath = C()\nmath.x = 1",
		"import math\ndef f():\n global math\n math = C()\n math.x = 1",
		"from cowboy_sdk import Model\nModel.x = 1\nself.y = 2\nsetattr(Model, 'x', 1)",
		"class C:\n def f(self): return super().__init__(), __class__",
		"class C:\n def __enter__(self): pass\n def __cowboy_serialize__(self): pass\n def __reduce__(self): pass",
		"hash(x), id(x), set(), frozenset(), print(x), getattr(x, name)",
		"from cowboy_sdk import actor, runner\n\n@actor\nclass Watcher:\n    @runner.continuation\n    async def on_price(self, msg):\n        if self.storage.get('limit') < msg.price:\n            answer = await runner.llm(prompt=f'sell at {msg.price}?')\n            if 'yes' in answer.output.lower():\n                self.sell(msg.price)\n",
		"from cowboy_sdk import actor, send, RUNNER\n\n@actor\nclass Asker:\n    def ask(self, msg):\n        send(RUNNER, {'job_type': 'llm', 'reply_to': self.address, 'context': {'at': current_block()}})\n",
	} {
		if r := check(t, src, DefaultLimits()); !r.Clean() {
			t.Errorf("%q: %v", src, r.Findings)
		}
	}
}

// TestUnlisted: the modules of the library that a program names, and those of them
// that a chain leaves out.
func TestUnlisted(t *testing.T) {
	r := check(t, "import json, base64\nfrom base64 import b64encode\nfrom collections.abc import Sized\nimport collections\ndef f():\n import hmac, cowboy_sdk.vrf\nfrom math import pi", DefaultLimits())
	var named []string
	for _, i := range r.Imports {
		named = append(named, fmt.Sprintf("%d:%d %s", i.Line, i.Col, i.Module))
	}
	const want = "1:7 json, 1:13 base64, 3:0 collections, 6:8 hmac, 7:0 math"
	if got := strings.Join(named, ", "); got != want || !r.Clean() {
		t.Errorf("imports %s, want %s; %v", got, want, r.Findings)
	}
	left := Unlisted(r.Imports, map[string]bool{"collections": true, "json": true, "cowboy_sdk": true})
	if got := short(left); got != "1:13 module.unlisted, 6:8 module.unlisted, 7:0 module.unlisted" {
		t.Errorf("unlisted: %s", got)
	}
	if all := Unlisted(r.Imports, ofLibrary); !all.Clean() {
		t.Errorf("all are listed: %v", all.Findings)
	}
}

func TestFindingReadsWell(t *testing.T) {
	r := check(t, "x = 1\ny = f.__globals__", DefaultLimits())
	const want = "line 2, column 5: DeterminismError: attribute __globals__ is forbidden: the globals and closures of functions, the builtins' name space [attribute.namespace; whitepaper, Forbidden Operations and Patterns: Reflection]"
	if len(r.Findings) != 1 || r.Findings[0].String() != want {
		t.Errorf("%v, want %s", r.Findings, want)
	}
}

// TestFindingsAreSorted has a tree that the walk does not visit in the order of
// the source: defaults come after the annotations of later parameters.
func TestFindingsAreSorted(t *testing.T) {
	r := check(t, "import math, os\nmath.pi = eval\ndef f(a=exec, b: vars = input): pass", DefaultLimits())
	const want = "1:13 module.system, 2:0 module.set-attribute, 2:10 builtin.reflection, 3:8 builtin.reflection, 3:17 builtin.namespace, 3:24 builtin.console"
	if got := short(r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimit(t *testing.T) {
	src := strings.Repeat("eval\n", 10)
	r := check(t, src, Limits{Findings: 3})
	if len(r.Findings) != 3 || r.More != 7 || r.Clean() {
		t.Errorf("%d findings and %d more, want 3 and 7", len(r.Findings), r.More)
	}
	if _, err := Check(nil, nil, Limits{}); err == nil {
		t.Error("a limit of no findings is taken")
	}
}

// TestRuleTable checks the rows themselves: unique, with a source, in use, and no
// name under two rules.
func TestRuleTable(t *testing.T) {
	ids := map[ID]bool{}
	for _, r := range Rules() {
		if ids[r.ID] || r.What == "" || !strings.Contains(r.Source, "whitepaper") && !strings.Contains(r.Source, "resolution") {
			t.Errorf("rule %+v", r)
		}
		ids[r.ID] = true
	}
	for _, rows := range [][]row{moduleRows[:], builtinRows[:], attributeRows[:]} {
		seen := map[string]bool{}
		for _, r := range rows {
			for _, name := range strings.Fields(r.names) {
				if seen[name] || !ids[r.id] {
					t.Errorf("%s is there twice, or has no rule", name)
				}
				if slices.Contains(strings.Fields(allowedModules), name) {
					t.Errorf("%s is both allowed and refused", name)
				}
				seen[name] = true
			}
		}
	}
}

// TestForbiddenAttribute holds the test on the shape of a name to the table.
func TestForbiddenAttribute(t *testing.T) {
	for _, r := range attributeRows {
		for _, name := range strings.Fields(r.names) {
			if !ForbiddenAttribute(name) {
				t.Errorf("%s is in the table and passes", name)
			}
		}
	}
	for _, name := range []string{"", "_", "__", "a_b", "__init__", "__dict__", "f_backs", "globals", "__globals", "_C__globals__", "__GLOBALS__"} {
		if ForbiddenAttribute(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

// FuzzCheck looks for panics, unsorted reports, and reports that depend on the
// limit in more than what they leave out.
func FuzzCheck(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	for _, c := range refused {
		f.Add(c.src)
	}
	f.AddSources("..")
	f.Fuzz(func(t *testing.T, src string) {
		mod, err := syntax.Parse([]byte(src), syntax.DefaultLimits())
		if err != nil {
			return
		}
		names, err := scope.Analyze(mod, scope.DefaultLimits())
		if err != nil {
			var e *scope.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		f.Past()
		all, err := Check(mod, names, Limits{Findings: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		one, err := Check(mod, names, Limits{Findings: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Findings)+one.More != len(all.Findings) || one.Clean() != all.Clean() {
			t.Errorf("%d findings under a limit of 1, with %d more; %d in all", len(one.Findings), one.More, len(all.Findings))
		}
		for i := 1; i < len(all.Findings); i++ {
			a, b := all.Findings[i-1], all.Findings[i]
			if a.Line > b.Line || a.Line == b.Line && a.Col > b.Col {
				t.Errorf("%v stands before %v", a, b)
			}
		}
	})
}
