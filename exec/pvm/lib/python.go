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
	//go:embed python/typing.py
	typingSource string
)

// pythonModules returns the modules written in Python.
func pythonModules() []vm.ModuleDef {
	return []vm.ModuleDef{
		pythonModule("abc", abcSource),
		pythonModule("collections", collectionsSource),
		pythonModule("collections.abc", collectionsABCSource),
		pythonModule("_collections_abc", abcClassesSource),
		pythonModule("_collections_user", userClassesSource),
		pythonModule("dataclasses", dataclassesSource),
		pythonModule("enum", enumSource),
		pythonModule("functools", functoolsSource),
		pythonModule("typing", typingSource),
	}
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
