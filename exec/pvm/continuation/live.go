package continuation

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// variable tells whether a name is one that is captured when it is live.
func (l *lowering) variable(id string) bool {
	return id != l.self && (slices.Contains(l.temps, id) || l.locals.has(id))
}

// sure tells whether a name that is live surely has a value: the lowering's own
// do.
func (l *lowering) sure(id string) bool { return slices.Contains(l.temps, id) || l.locals.sure(id) }

// liveness finds for every block which variables may be read from its beginning
// on before they are bound.
func (l *lowering) liveness() {
	byID := map[int]*block{}
	for _, b := range l.blocks {
		byID[b.id] = b
	}
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(l.blocks) {
			live := l.liveAfter(b, byID)
			for _, s := range slices.Backward(b.stmts) {
				live = l.before(s, live)
			}
			if b.region != nil {
				live = merge(live, byID[b.region.catch].live)
			}
			if len(live) != len(b.live) {
				b.live, changed = live, true
			}
		}
	}
	for _, b := range l.blocks {
		slices.Sort(b.live)
	}
}

func (l *lowering) liveAfter(b *block, byID map[int]*block) []string {
	var live []string
	for _, id := range b.succ {
		live = merge(live, byID[id].live)
	}
	return live
}

func merge(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

// before returns what is live before a statement. Only a plain assignment kills
// a name.
func (l *lowering) before(s syntax.Stmt, live []string) []string {
	if a, ok := s.(*syntax.Assign); ok {
		for _, t := range a.Targets {
			if n, ok := t.(*syntax.Name); ok {
				live = slices.DeleteFunc(live, func(v string) bool { return v == n.ID })
			}
		}
	}
	uses(s, func(id string) {
		if l.variable(id) && !slices.Contains(live, id) {
			live = append(live, id)
		}
	})
	return live
}

// captures fills in, at every await, what is stored of the variables.
func (l *lowering) captures() {
	for _, a := range l.awaits {
		for _, v := range a.block.live {
			for _, c := range l.locals.code {
				if c.name == v {
					refuse(a.at, "'%s' is %s and does not survive this await: nothing after it may use it", v, c.what)
				}
			}
		}
		a.from.stmts[a.index] = l.suspension(a)
	}
}

// suspension is: if the awaited value is a job, store the variables, submit the
// job and return.
func (l *lowering) suspension(a *await) syntax.Stmt {
	at := a.at
	vars := &syntax.Dict{Pos: at}
	var unsure []syntax.Stmt
	for _, v := range a.block.live {
		if l.sure(v) {
			vars.Keys = append(vars.Keys, text(at, v))
			vars.Values = append(vars.Values, name(at, v))
			continue
		}
		unsure = append(unsure, &syntax.Try{
			Pos: at,
			Body: []syntax.Stmt{&syntax.Assign{Pos: at, Value: name(at, v), Targets: []syntax.Expr{
				&syntax.Subscript{Pos: at, Value: name(at, stored), Slice: text(at, v), Ctx: syntax.Store},
			}}},
			Handlers: []*syntax.ExceptHandler{{
				Pos: at, Type: &syntax.Attribute{Pos: at, Value: name(at, sdkModule), Attr: "Unbound"},
				Body: []syntax.Stmt{&syntax.Pass{Pos: at}},
			}},
		})
	}
	body := append([]syntax.Stmt{assign(at, stored, vars)}, unsure...)
	body = append(body, &syntax.Return{Pos: at, Value: library(at, "suspend",
		text(at, l.name), number(at, a.label), name(at, stored), name(at, awaited))})
	return &syntax.If{Pos: at, Test: library(at, "pending", name(at, awaited)), Body: body}
}
