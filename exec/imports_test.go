package exec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/gate"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
)

const importer = `
from cowboy_sdk import actor, public, spawn, upgrade_self

@actor
class Importer:
    @public
    def plain(self, msg):
        import json
        return json.dumps([1])

    @public
    def encode(self, msg):
        try:
            import base64
            return base64.b64encode(b"abc").decode()
        except DeterminismError as e:
            return str(e)

    @public
    def abstract(self, msg):
        try:
            from collections import abc
            return abc.Sized.__name__
        except DeterminismError as e:
            return str(e)

    @public
    def child(self, msg):
        try:
            spawn(b"1", msg.payload)
            return "born"
        except Exception as e:
            return str(e)

    @public
    def renew(self, msg):
        try:
            upgrade_self(msg.payload)
            return "renewed"
        except Exception as e:
            return str(e)
`

// TestActorsImportWhatTheGenesisLists: deploying, spawning and upgrading refuse a
// program that names another module, and the machine refuses it besides.
func TestActorsImportWhatTheGenesisLists(t *testing.T) { // resolutions 8.13, 14.10
	c := oneValidator(t)
	c.engine = testEngine(t) // one engine and its cache for all lists
	own := params.Default().Actor.Imports
	c.g.Params.Actor.Imports = own
	c.g.Params.Entitlements.SystemDeployers = []chain.Address{alice}
	manifest := manifestOf(limited(manifest.Spawn, "max_children", 9), limited(manifest.Upgrade))
	const missing = "import of base64 is forbidden: a module that is not on the chain's list [module.unlisted;"
	if _, r := c.deploy(alice, importer, manifest); r.Code != chain.CodeCodeInvalid {
		t.Fatalf("deployed with a module that the chain does not list: %+v", r)
	}
	c.g.Params.Actor.Imports = gate.LibraryModules()
	addr, r := c.deploy(alice, importer, manifest)
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	says := func(handler, arg, want string) {
		t.Helper()
		r := c.ask(addr, handler, cbor.AppendText(nil, arg))
		if r.Code != chain.CodeOK || !strings.Contains(string(r.Output), want) {
			t.Errorf("%s with %d modules: %s %q, want %q", handler, len(c.g.Params.Actor.Imports), chain.CodeName(r.Code), r.Output, want)
		}
	}
	const wants = "import base64"
	says("plain", "", "[1]")
	says("encode", "", "YWJj")
	says("abstract", "", "Sized")
	c.g.Params.Actor.Imports = own
	says("plain", "", "[1]")
	says("encode", "", "module 'base64' cannot be imported: this chain does not list it")
	says("child", wants, missing)
	says("renew", wants, missing)
	c.g.Params.Actor.Imports = []string{"collections"} // and what is below it
	says("abstract", "", "Sized")
	c.g.Params.Actor.Imports = []string{"json"}
	says("abstract", "", "module 'collections' cannot be imported: this chain does not list it")
	c.g.Params.Actor.Imports = nil // cowboy_sdk goes without saying
	says("child", "import json", "import of json is forbidden")
	says("child", "import cowboy_sdk", "born")
}

// TestImportsOfGenesis: what templates list, the machine has; what the machine has, a
// development chain lists.
func TestImportsOfGenesis(t *testing.T) {
	var have []string
	for _, m := range lib.Modules() {
		if !strings.HasPrefix(m.Name, "_") && !strings.Contains(m.Name, ".") {
			have = append(have, m.Name)
		}
	}
	slices.Sort(have)
	if table := gate.LibraryModules(); !slices.Equal(have, table) {
		t.Errorf("the library is %v, the gate knows %v", have, table)
	}
	if dev := genesis.DevnetTemplate().Params.Actor.Imports; !slices.Equal(have, dev) {
		t.Errorf("a development chain lists %v of %v", dev, have)
	}
	p := params.Default()
	const whitelist = "abc collections dataclasses decimal enum functools hashlib itertools json math re struct typing"
	if got := strings.Join(p.Actor.Imports, " "); got != whitelist {
		t.Errorf("the default is %s, want the whitelist of the whitepaper", got)
	}
	if err := exec.CheckImports(&p); err != nil {
		t.Error(err)
	}
	var missing *exec.MissingModule
	p.Actor.Imports = []string{"json", "numpy"}
	if err := exec.CheckImports(&p); !errors.As(err, &missing) || missing.Name != "numpy" {
		t.Errorf("numpy: %v", err)
	}
	for _, name := range []string{"_pvm", "collections.abc", "cowboy_sdk", "sys"} {
		p.Actor.Imports = []string{name}
		if err := exec.CheckImports(&p); !errors.As(err, &missing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
