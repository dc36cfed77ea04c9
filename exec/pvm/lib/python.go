package lib

import (
	_ "embed" // the modules' sources
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// The modules that are written in Python. Each is compiled once for a runtime and
// runs once in each machine; a call that imports it pays what that used.
var (
	//go:embed python/abc.py
	abcSource string
	//go:embed python/base64.py
	base64Source string
	//go:embed python/cbor2.py
	cbor2Source string
	//go:embed python/collections.py
	collectionsSource string
	//go:embed python/collections_abc.py
	collectionsABCSource string
	//go:embed python/_collections_abc.py
	abcClassesSource string
	//go:embed python/_collections_user.py
	userClassesSource string
	//go:embed python/dataclasses.py
	dataclassesSource string
	//go:embed python/enum.py
	enumSource string
	//go:embed python/functools.py
	functoolsSource string
	//go:embed python/hmac.py
	hmacSource string
	//go:embed python/string.py
	stringSource string
	//go:embed python/typing.py
	typingSource string
)

// Source is the text of a module that is written in Python.
type Source struct{ Name, Text string }

// Sources returns those of this package in a fixed order. What they charge follows
// from their texts, so those are consensus.
func Sources() []Source {
	return []Source{
		{"abc", abcSource},
		{"base64", base64Source},
		{"cbor2", cbor2Source},
		{"collections", collectionsSource},
		{"collections.abc", collectionsABCSource},
		{"_collections_abc", abcClassesSource},
		{"_collections_user", userClassesSource},
		{"dataclasses", dataclassesSource},
		{"enum", enumSource},
		{"functools", functoolsSource},
		{"hmac", hmacSource},
		{"string", stringSource},
		{"typing", typingSource},
	}
}

// pythonModules returns the modules written in Python.
func pythonModules() []vm.ModuleDef {
	var defs []vm.ModuleDef
	// Bounded: by the sources; once, when a runtime is made.
	for _, s := range Sources() {
		defs = append(defs, pythonModule(s.Name, s.Text))
	}
	return defs
}

// pythonModule compiles one. A source that does not compile is a defect of ours
// that the first test meets.
func pythonModule(name, source string) vm.ModuleDef {
	o, err := compile.Source([]byte(source), vm.LibraryFile+name+">", compile.DefaultLimits())
	if err != nil {
		panic(fmt.Sprintf("module %s of the library: %v", name, err))
	}
	return vm.ModuleDef{Name: name, Kept: true, Load: func(m *vm.Machine) (*vm.Module, error) { return m.LoadLibrary(name, o) }}
}
