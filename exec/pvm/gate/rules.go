package gate

import (
	"slices"
	"strings"
)

// ID names a rule. It is stable: tools and tests refer to it.
type ID string

// The rules.
const (
	ModuleSystem        ID = "module.system"
	ModuleTime          ID = "module.time"
	ModuleRandom        ID = "module.random"
	ModuleNetwork       ID = "module.network"
	ModuleFiles         ID = "module.files"
	ModuleIntrospection ID = "module.introspection"
	ModuleWeakref       ID = "module.weakref"
	ModuleThreads       ID = "module.threads"
	ModulePickle        ID = "module.pickle"
	ModuleDynamic       ID = "module.dynamic-import"
	ModuleNative        ID = "module.native"
	ModuleUnlisted      ID = "module.unlisted"
	ModuleRelative      ID = "module.relative"
	ModuleHash          ID = "module.hash"
	ModuleSet           ID = "module.set-attribute"

	BuiltinReflection ID = "builtin.reflection"
	BuiltinImport     ID = "builtin.import"
	BuiltinNamespace  ID = "builtin.namespace"
	BuiltinConsole    ID = "builtin.console"
	BuiltinAbsent     ID = "builtin.absent"

	AttributeNamespace ID = "attribute.namespace"
	AttributeCode      ID = "attribute.code"
	AttributeFrame     ID = "attribute.frame"
	AttributeTraceback ID = "attribute.traceback"
	AttributeClasses   ID = "attribute.subclasses"
	AttributeMachinery ID = "attribute.import-machinery"
	AttributeWeakref   ID = "attribute.weakref"
	AttributePickle    ID = "attribute.pickle"
	Finalizer          ID = "memory.finalizer"
	IdentityOfLiteral  ID = "identity.literal"
	PathOutsideScratch ID = "files.outside-scratch"
)

// Rule is one row of what the gate forbids.
type Rule struct {
	ID     ID
	What   string // what is forbidden, and what to use instead
	Source string // the text that forbids it
	Extra  bool   // ours: the source gives the purpose, not the name
}

const (
	table     = "whitepaper, Forbidden Operations and Patterns: "
	whitelist = "whitepaper, Module and Dependency Management: Initial Whitelist (v1)"
)

// rules are in the order of the constants above.
var rules = [...]Rule{
	{ModuleSystem, "the operating system: sys, os, subprocess", table + "System; §3.1", false},
	{ModuleTime, "clocks: time, datetime; use the block's height and timestamp", table + "Time; §3.1", false},
	{ModuleRandom, "chance: random, secrets, uuid; use cowboy_sdk.vrf", table + "Randomness; §3.1, §3.4", false},
	{ModuleNetwork, "the network: socket, urllib, http, requests; use a runner", table + "Networking; §3.1", false},
	{ModuleFiles, "files by other ways than open of /tmp", table + "Filesystem; §3.1", false},
	{ModuleIntrospection, "the interpreter's inside: inspect, gc", table + "Introspection", false},
	{ModuleWeakref, "weak references", table + "Weak References", false},
	{ModuleThreads, "threads, processes, event loops: threading, multiprocessing, concurrent, asyncio", table + "Threading", false},
	{ModulePickle, "pickle and what builds on it; values are canonical CBOR", "whitepaper, Serialization: Forbidden", false},
	{ModuleDynamic, "loading modules at run time: importlib, imp, pkgutil, runpy", "whitepaper, Module and Dependency Management: No Dynamic Imports", false},
	{ModuleNative, "C extensions: numpy, pandas, ctypes", "whitepaper, Module and Dependency Management: No C Extensions", false},
	{ModuleUnlisted, "a module that is not on the chain's list", whitelist + "; resolution 14.10", false},
	{ModuleRelative, "relative imports: an actor is one module", whitelist, false},
	{ModuleHash, "hashes of hashlib other than keccak256 and sha256", whitelist, false},
	{ModuleSet, "setting or deleting attributes of a module", table + "Reflection", false},

	{BuiltinReflection, "eval, exec, compile, globals", table + "Reflection", false},
	{BuiltinImport, "__import__", "whitepaper, Module and Dependency Management: No Dynamic Imports", false},
	{BuiltinNamespace, "locals and vars: name spaces as dictionaries; use getattr, or the instance's __dict__", table + "Reflection", true},
	{BuiltinConsole, "what waits for a person or ends the interpreter: input, breakpoint, help, exit, quit", table + "System", true},
	{BuiltinAbsent, "builtins that the machine does not have: complex, memoryview, __build_class__", "resolution 11.48; whitepaper, Python as Execution Language: restrictions", true},

	{AttributeNamespace, "the globals and closures of functions, the builtins' name space", table + "Reflection", true},
	{AttributeCode, "code objects of functions, generators and coroutines", table + "Reflection", true},
	{AttributeFrame, "frames of generators and coroutines, and their parts", table + "Introspection", true},
	{AttributeTraceback, "tracebacks; they are for local debugging", "whitepaper, Exception Handling: Tracebacks", true},
	{AttributeClasses, "a class's list of subclasses: the way to classes that nobody handed out, in an order of memory", table + "Weak References", true},
	{AttributeMachinery, "loaders and specs of modules", "whitepaper, Module and Dependency Management: No Dynamic Imports", true},
	{AttributeWeakref, "lists of weak references", table + "Weak References", true},
	{AttributePickle, "the protocol of pickle; use __cowboy_serialize__", "whitepaper, Serialization: Forbidden", true},
	{Finalizer, "__del__: when an object dies is no part of a program's meaning", "whitepaper, Runtime Environment: Deterministic Memory Management", true},
	{IdentityOfLiteral, "is and is not with text or a number; use == and !=", table + "Identity; resolution 11.48", false},
	{PathOutsideScratch, "open of a path that is not under /tmp", table + "Filesystem; §3.1", false},
}

// Rules returns all rules.
// Bounded: by the tables of this package, made once.
func Rules() []Rule { return slices.Clone(rules[:]) }

// rule returns the row of an ID.
func rule(id ID) Rule {
	// Bounded: by the rules, 31, for each finding that is kept, 256.
	return rules[slices.IndexFunc(rules[:], func(r Rule) bool { return r.ID == id })]
}

// row gives many names one rule.
type row struct {
	names string // apart by blanks
	id    ID
}

func (r row) has(name string) bool {
	// Bounded: by one row of a table, 16 names at most.
	for n := range strings.FieldsSeq(r.names) {
		if n == name {
			return true
		}
	}
	return false
}

// libraryModules are those that a chain can let its actors import: the whitelist of
// version 1, then what a genesis may name besides (resolutions 8.13, 14.10). What is
// below a module comes with it.
const libraryModules = "collections dataclasses enum functools itertools json re struct math decimal typing abc hashlib " +
	"base64 cbor2 hmac operator string"

// allowedModules are all that any actor may import; a trailing ".*" allows what is
// below.
const allowedModules = libraryModules + " collections.abc cowboy_sdk cowboy_sdk.*"

// ofLibrary and allowed have the modules by name. They are looked up in, never walked.
var ofLibrary, allowed = named(libraryModules), named(allowedModules)

func named(names string) map[string]bool {
	out := map[string]bool{}
	// Bounded: by the tables of this package, made once.
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

// LibraryModules returns the modules that a genesis may name, in order.
// Bounded: by the tables of this package, made once.
func LibraryModules() []string { return slices.Sorted(strings.FieldsSeq(libraryModules)) }

// futureNames may be imported from __future__: Python 3.11's list but
// for the jest barry_as_FLUFL, which the front end refuses. All but
// annotations are the language already; the compiler knows what it means.
const futureNames = "nested_scopes generators division absolute_import with_statement print_function " +
	"unicode_literals generator_stop annotations"

// hashNames is what may be imported from hashlib.
const hashNames = "keccak256 sha256 *"

// moduleRows tell the modules that the text names, and the near relations of
// those, from those that are merely not listed. A module's row is that of its
// first part.
var moduleRows = [...]row{
	{"sys os posix nt subprocess platform signal resource sysconfig site", ModuleSystem},
	{"time datetime calendar zoneinfo sched", ModuleTime},
	{"random secrets uuid", ModuleRandom},
	{"socket urllib http requests socketserver ssl ftplib smtplib xmlrpc select selectors", ModuleNetwork},
	{"io pathlib shutil tempfile glob fileinput mmap", ModuleFiles},
	{"inspect gc traceback tracemalloc ast dis code codeop symtable builtins", ModuleIntrospection},
	{"weakref", ModuleWeakref},
	{"threading multiprocessing concurrent asyncio _thread queue contextvars", ModuleThreads},
	{"pickle shelve marshal copyreg dbm", ModulePickle},
	{"importlib imp pkgutil runpy zipimport", ModuleDynamic},
	{"numpy pandas scipy ctypes cffi", ModuleNative},
}

// builtinRows are the builtins that an actor does not have.
var builtinRows = [...]row{
	{"eval exec compile globals", BuiltinReflection},
	{"__import__", BuiltinImport},
	{"locals vars", BuiltinNamespace},
	{"input breakpoint help exit quit copyright credits license", BuiltinConsole},
	{"complex memoryview __build_class__", BuiltinAbsent},
}

// attributeRows are the attributes that nothing may name.
var attributeRows = [...]row{
	{"__globals__ __builtins__ __closure__", AttributeNamespace},
	{"__code__ gi_code cr_code ag_code f_code", AttributeCode},
	{"f_back f_builtins f_globals f_lasti f_lineno f_locals f_trace f_trace_lines f_trace_opcodes " +
		"gi_frame gi_yieldfrom cr_frame cr_await cr_origin ag_frame ag_await", AttributeFrame},
	{"__traceback__ tb_frame tb_lasti tb_lineno tb_next", AttributeTraceback},
	{"__subclasses__", AttributeClasses},
	{"__loader__ __spec__ __path__ __file__ __cached__ __package__ __import__", AttributeMachinery},
	{"__weakref__ __weakrefoffset__", AttributeWeakref},
	{"__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__", AttributePickle},
	{"__del__", Finalizer},
}

// forbiddenAttributes is attributeRows by name: the machine asks it for most names
// with underscores; moduleRules and builtinRules are the other rows. They are looked up
// in, never walked.
var (
	forbiddenAttributes = byName(attributeRows[:])
	moduleRules         = byName(moduleRows[:])
	builtinRules        = byName(builtinRows[:])
)

func byName(rows []row) map[string]ID {
	out := map[string]ID{}
	// Bounded: by the tables of this package, made once.
	for _, r := range rows {
		// Bounded: by one row of a table, 16 names at most.
		for name := range strings.FieldsSeq(r.names) {
			out[name] = r.id
		}
	}
	return out
}

// ForbiddenAttribute reports whether no program may name an attribute: neither in
// its source, which the gate sees, nor in a string, which only the machine sees.
// The machine asks before it uses a name that a program computed, and raises
// DeterminismError.
func ForbiddenAttribute(name string) bool {
	_, forbidden := attributeRule(name)
	return forbidden
}

// attributeRule looks at the shape of a name first: it runs for every attribute.
func attributeRule(name string) (ID, bool) {
	if len(name) < 4 || name[1] != '_' && name[2] != '_' {
		return "", false
	}
	id, forbidden := forbiddenAttributes[name]
	return id, forbidden
}
