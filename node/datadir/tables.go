package datadir

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/release"
)

// MachineTables returns the hashes of the Python machine's tables in this build.
func MachineTables() params.MachineTables { return exec.Tables() }

// TablesError means that a genesis was made for another table of the Python
// machine than this build has: the two would not agree on results.
type TablesError struct {
	Table string // the field of params.machine
	Want  chain.Hash
	Have  chain.Hash
}

// Error names the tables and says what to do.
func (e *TablesError) Error() string {
	return fmt.Sprintf("params.machine.%s is %s, but this build (%s) has %s: use the build whose `cowboyd version --tables` shows the former, or make a new genesis with this one",
		e.Table, e.Want, release.Version, e.Have)
}

// CheckTables reports the first table of the machine that g asks for and this
// build does not have, as a *[TablesError], or the first module that its actors may
// import and this build does not have, as an *[exec.MissingModule].
func CheckTables(g *genesis.Genesis) error {
	if err := exec.CheckImports(&g.Params); err != nil {
		return err
	}
	return checkTables(g.Params.Machine, MachineTables())
}

func checkTables(want, have params.MachineTables) error {
	if want.CostTable != have.CostTable {
		return &TablesError{Table: "cost_table", Want: want.CostTable, Have: have.CostTable}
	}
	if want.ExceptionTexts != have.ExceptionTexts {
		return &TablesError{Table: "exception_texts", Want: want.ExceptionTexts, Have: have.ExceptionTexts}
	}
	return nil
}

// FillTables puts this build's tables into a template that names none. One that
// names another build's is refused, and one that lists modules of none.
func FillTables(p *params.Params) error {
	if err := exec.CheckImports(p); err != nil {
		return err
	}
	tables, have := &p.Machine, MachineTables()
	if tables.CostTable == (chain.Hash{}) {
		tables.CostTable = have.CostTable
	}
	if tables.ExceptionTexts == (chain.Hash{}) {
		tables.ExceptionTexts = have.ExceptionTexts
	}
	return checkTables(*tables, have)
}
