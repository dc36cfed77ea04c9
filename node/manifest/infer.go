// Package manifest makes the manifests that deployments carry (entitlements §6):
// from JSON as people write it, or as the least that a source needs by the look
// of it.
//
// [Infer] reads the syntax tree alone. It goes by the names that are used, so it
// grants what a program might do and cannot know what it is handed at run time: an
// attribute spelled like a call of the SDK counts as that call. Whoever deploys
// sees the result and may give another.
//
// The bytes are canonical; the chain judges them (package exec/manifest).
package manifest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Grant is one entitlement with its parameters: numbers, texts, lists of texts.
type Grant struct {
	ID     string         `json:"id"`
	Params map[string]any `json:"params,omitempty"`
}

// needs says which entitlement a name of the SDK takes (entitlements §9).
var needs = map[string]string{
	"storage": "storage.kv", "get_state": "storage.kv", "set_state": "storage.kv", "delete_state": "storage.kv",
	"scan_state_prefix": "storage.kv", "get_owner": "storage.kv", "transfer_ownership": "storage.kv",
	"renounce_ownership": "storage.kv", "assume_ownership_if_unowned": "storage.kv", "is_initialized": "storage.kv",
	"mark_initialized": "storage.kv", "reentrancy_guard": "storage.kv", "storage_guard": "storage.kv", "GuardedValue": "storage.kv",
	"OWNER": "storage.kv", "continuation": "storage.kv",
	"blob_commit": "storage.blob", "blob_get": "storage.blob",
	"set_timer": "timer.schedule", "set_interval": "timer.schedule", "schedule_timer": "timer.schedule",
	"schedule_timer_ex": "timer.schedule", "extend_timer": "timer.schedule", "create_deferred_tx": "timer.schedule",
	"transfer": "econ.transfer",
	"spawn":    "exec.spawn",
	"llm":      "oracle.llm", "http": "http.fetch",
	"upgrade_self": "sys.upgrade",
}

// holds are names whose use takes a balance between transactions.
var holds = []string{
	"transfer", "spawn", "set_timer", "set_interval", "schedule_timer", "schedule_timer_ex", "create_deferred_tx",
	"submit_job", "continuation", "submit", "rent", "bond", "get_value", "RUNNER", "JOB_DISPATCHER",
}

// methods are names of [needs] that count only as an attribute of these.
var methods = map[string][]string{"llm": {"runner"}, "http": {"runner"}, "continuation": {"runner"}, "submit": {"request"}}

// imported are names of [needs] that are common words, which count only where the
// program imports them from the SDK.
var imported = []string{"transfer", "spawn", "OWNER", "rent", "RUNNER", "JOB_DISPATCHER"}

// byHand are names whose use may submit a specification that is written as a dictionary: a
// message to the dispatcher is one (resolution 12.58).
var byHand = []string{"submit_job", "RUNNER", "JOB_DISPATCHER"}

// Infer returns the grants that a source needs, in ascending order. The error is
// that of the parser.
func Infer(source []byte) ([]Grant, error) {
	mod, err := syntax.Parse(source, pvm.DefaultLimits().Compile.Syntax)
	if err != nil {
		return nil, fmt.Errorf("source does not parse: %w", err)
	}
	f := finder{found: map[string]bool{}, sdk: map[string]bool{}, hosts: map[string]bool{}, kinds: map[string]bool{}}
	for _, n := range mod.Body {
		f.imports(n)
	}
	for _, n := range mod.Body {
		f.visit(n)
	}
	return f.grants(), nil
}

// Defines tells whether a source has a function of that name, global or in a
// global class. A source that does not parse has none.
func Defines(source []byte, name string) bool {
	mod, err := syntax.Parse(source, pvm.DefaultLimits().Compile.Syntax)
	if err != nil {
		return false
	}
	is := func(s syntax.Stmt) bool {
		f, ok := s.(*syntax.FunctionDef)
		return ok && f.Name == name
	}
	return slices.ContainsFunc(mod.Body, func(s syntax.Stmt) bool {
		c, ok := s.(*syntax.ClassDef)
		return is(s) || ok && slices.ContainsFunc(c.Body, is)
	})
}

type finder struct {
	found map[string]bool // entitlements
	sdk   map[string]bool // names that the program imports from the SDK
	star  bool
	hosts map[string]bool // of URLs in the source
	jobs  bool            // specifications are written by hand
	kinds map[string]bool // entitlements of the kinds of job that are named in texts
}

func (f *finder) imports(n syntax.Node) {
	if imp, ok := n.(*syntax.ImportFrom); ok && imp.Module == "cowboy_sdk" {
		for _, a := range imp.Names {
			f.sdk[a.Name] = true
			f.star = f.star || a.Name == "*"
		}
	}
	syntax.Children(n, f.imports)
}

func (f *finder) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Name:
		f.use(n.ID, "")
	case *syntax.Attribute:
		owner := ""
		if name, ok := n.Value.(*syntax.Name); ok {
			owner = name.ID
		}
		f.use(n.Attr, owner)
	case *syntax.Constant:
		if n.Kind == syntax.ConstStr {
			f.url(n.Text)
		}
	case *syntax.Call:
		for _, k := range n.Keywords {
			if k.Arg == "value" && !isZero(k.Value) {
				f.found["econ.transfer"], f.found["econ.hold_balance"] = true, true
			}
		}
	}
	syntax.Children(n, f.visit)
}

func isZero(e syntax.Expr) bool {
	c, ok := e.(*syntax.Constant)
	return ok && c.Kind == syntax.ConstInt && c.Int.Sign() == 0
}

// use counts a name: owner is what it is an attribute of, "" for a plain name.
func (f *finder) use(name, owner string) {
	if of, ok := methods[name]; ok && !slices.Contains(of, owner) {
		return
	}
	if slices.Contains(imported, name) && !f.sdk[name] && !f.star && owner != "runtime" && owner != "cowboy_sdk" {
		return
	}
	f.jobs = f.jobs || slices.Contains(byHand, name) || name == "job" && owner == "runner"
	if id := needs[name]; id != "" {
		f.found[id] = true
	}
	if slices.Contains(holds, name) {
		f.found["econ.hold_balance"] = true
	}
}

// url notes the host of a literal, or the kind of job that it names.
func (f *finder) url(text string) {
	switch text {
	case "llm", "http":
		f.kinds[needs[text]] = true
	case "http_extract":
		f.kinds[needs["http"]] = true
	}
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return
	}
	u, err := url.Parse(text)
	if err == nil && u.Hostname() != "" && !strings.ContainsAny(u.Hostname(), "{}%") {
		f.hosts[strings.ToLower(u.Hostname())] = true
	}
}

func (f *finder) grants() []Grant {
	out := []Grant{}
	if f.jobs {
		maps.Copy(f.found, f.kinds)
	}
	for id := range f.found {
		g := Grant{ID: id}
		if id == "http.fetch" {
			domains := []string{}
			for h := range f.hosts {
				domains = append(domains, h)
			}
			if slices.Sort(domains); len(domains) == 0 {
				domains = []string{"*"} // made at run time
			}
			g.Params = map[string]any{"allowlist_domains": domains}
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Grant) int { return strings.Compare(a.ID, b.ID) })
	return out
}
