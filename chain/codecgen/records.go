package main

import (
	"go/format"
	"path/filepath"
)

// jobsFolder is where the Job Dispatcher is, from package chain.
const jobsFolder = "../exec/market/jobs/"

// records lists the structs that services keep in the state, by package, each after
// those it contains. They are arrays.
var records = map[string][]string{
	"jobs": {"Rates", "Usage", "Reveal", "Seat", "Job"},
}

// generateRecords returns the codec of the records of a package.
func generateRecords(dir, folder, pkg string) ([]byte, error) {
	g, err := newGenerator(filepath.Join(dir, folder), pkg)
	if err != nil {
		return nil, err
	}
	g.chain = "chain."
	types, err := declaredTypes(dir)
	if err != nil {
		return nil, err
	}
	for name, typ := range types {
		g.types[g.chain+name] = typ
	}
	g.line("")
	g.line("import (\n%q\n%q\n)", module+"chain", module+"chain/cbor")
	for _, name := range records[pkg] {
		if err := g.structCodec(name, g.keyed); err != nil {
			return nil, err
		}
	}
	return format.Source(g.out.Bytes())
}
