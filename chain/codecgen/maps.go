package main

import (
	"fmt"
	"strings"
	"unicode"
)

// mapped lists the structs that are maps: the key of a field is its number in the
// declaration, from 0 (CIP-11 §12.6).
var mapped = []string{
	"RateCard", "Capabilities",
	"Freshness", "ResourceBounds", "Verification", "Callback", "JobSpec",
	"ResultSchema", "Snapshot", "FreshnessReference", "Extraction", "Similarity", "JobTerms",
	"RunnerUsage", "ResultSource", "RunnerResult",
}

// rows lists the structs of the market that are arrays.
var rows = []string{"VolumeAttachment", "ResultDetail", "Reveal"}

// union is an interface whose values are maps. Key 0 is the number of one of the structs,
// whose fields have the keys from 1.
type union struct {
	name    string
	kind    string // type of key 0
	structs []string
	limit   string // most bytes of a value; "" for no bound of its own
}

var unions = []union{
	{"JobType", "JobKind", []string{"LLMJob", "HTTPJob", "MCPJob", "CustomJob", "ChainRootJob", "AgentJob"}, ""},
	{"VerifierCheck", "CheckKind", []string{
		"MajorityCheck", "SchemaCheck", "FieldsCheck", "ToleranceCheck", "RangeCheck", "CustomCheck", "TXTCheck", "CNAMECheck",
	}, "MaxCheckBytes"},
	{"NamedCheck", "NamedKind", []string{
		"ExactMatchCheck", "SupermajorityCheck", "SetCheck", "ContainsAllCheck", "ContainsNoneCheck", "RegexCheck",
		"LengthCheck", "SimilarityCheck", "PromptLeakCheck", "EntropyCheck",
	}, "MaxCheckBytes"},
	{"ObjectiveCheck", "ObjectiveKind", []string{
		"SchemaObjective", "MinLengthObjective", "EntropyObjective", "PromptLeakObjective", "ModelObjective",
	}, ""},
}

// ordered are the structs that are what an instruction asks for: the array of its
// opcode, a constant named Op and the struct's name, and the fields. Some are bounded in
// the bytes of their fields.
var ordered = []struct{ name, limit string }{
	{"RunnerRegister", ""},
	{"RunnerHeartbeat", ""},
	{"RunnerUpdate", ""},
	{"RunnerDeregister", ""},
	{"RunnerUnstake", ""},
	{"RunnerWithdraw", ""},
	{"RunnerPause", ""},
	{"RunnerAttest", ""},
	{"RunnerReturn", ""},
	{"JobSubmit", "MaxJobBytes"},
	{"JobCancel", ""},
	{"ResultCommit", ""},
	{"ResultReveal", ""},
	{"ResultSubmit", ""},
}

// written lists the types whose codec is written by hand: a method appendTo, and a
// function read and the type's name that takes a limit.
var written = []string{"TextMap", "JSONValue"}

// keyed returns the fields of a struct of the market. Errors name them as the
// specification does.
func (g *generator) keyed(name string) ([]field, error) {
	fields, err := g.fields(name)
	for i := range fields {
		fields[i].said = specName(fields[i].name)
	}
	return fields, err
}

// specName is the name of a field as the specification spells it: lower case, with
// underscores between the words of the Go name.
func specName(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, c := range runes {
		if i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.ReplaceAll(b.String(), "_millis", "_ms")
}

func (g *generator) mapCodec(name string) error {
	fields, err := g.keyed(name)
	if err != nil {
		return err
	}
	g.line("")
	g.line("func (x *%s) appendTo(dst []byte) []byte {", name)
	g.line("dst = cbor.AppendMap(dst, %d)", len(fields))
	if err := g.writeKeys(fields, 0); err != nil {
		return err
	}
	g.line("")
	g.line("func (x *%s) readFrom(r *cbor.Reader) error {", name)
	g.line("m, err := r.IntMap()\nif err != nil {\nreturn &FieldError{Object: %q, Err: err}\n}", name)
	if err := g.readKeys(fields); err != nil {
		return err
	}
	g.line("if err := r.EndIntMap(&m); err != nil {\nreturn &FieldError{Object: %q, Err: err}\n}", name)
	g.endReader(name)
	return nil
}

// writeKeys writes the rest of an appending method: the fields with their keys, the
// first of which is from.
func (g *generator) writeKeys(fields []field, from int) error {
	for i, f := range fields {
		g.line("dst = cbor.AppendUint(dst, %d)", from+i)
		if err := g.write(f, "x."+f.name, f.typ, false); err != nil {
			return err
		}
	}
	g.line("return dst\n}")
	return nil
}

// readKeys writes code that reads the fields of the map m, each after its key.
func (g *generator) readKeys(fields []field) error {
	for _, f := range fields {
		g.line("if err := r.IntKey(&m)%s", f.failing())
		if err := g.read(f, "x."+f.name, f.typ, false); err != nil {
			return err
		}
	}
	return nil
}

// unionCodec writes the methods of all structs of u, and the function that reads one.
func (g *generator) unionCodec(u *union) error {
	for i, name := range u.structs {
		if err := g.variantCodec(u, i, name); err != nil {
			return err
		}
	}
	object, fail := fmt.Sprintf("&FieldError{Object: %q, Err: err}", u.name), fmt.Sprintf("&FieldError{Object: %q, Field: \"kind\", Err: err}", u.name)
	g.line("")
	g.line("func read%s(r *cbor.Reader) (%s, error) {", u.name, u.name)
	if u.limit != "" {
		g.line("start := r.Offset()")
	}
	g.line("m, err := r.IntMap()\nif err != nil {\nreturn nil, %s\n}", object)
	g.line("if err := r.IntKey(&m); err != nil {\nreturn nil, %s\n}", fail)
	g.line("kind, err := readUintTo(r, %d)\nif err != nil {\nreturn nil, %s\n}", len(u.structs)-1, fail)
	g.line("var x %s\nswitch %s(kind) {", u.name, u.kind)
	for i, name := range u.structs {
		g.line("case %d:\nx = new(%s)", i, name)
	}
	g.line("}")
	g.line("if err := x.readKeys(r, m); err != nil {\nreturn nil, err\n}")
	if u.limit != "" {
		g.line("if r.Offset()-start > %s {\nreturn nil, &FieldError{Object: %q, Err: cbor.ErrTooLong}\n}", u.limit, u.name)
	}
	g.line("return x, nil\n}")
	return nil
}

// variantCodec writes the methods of one struct of u: the interface's.
func (g *generator) variantCodec(u *union, number int, name string) error {
	fields, err := g.keyed(name)
	if err != nil {
		return err
	}
	receiver := "x "
	if len(fields) == 0 {
		receiver = ""
	}
	g.line("")
	g.line("// Kind returns %d, the value of key 0.", number)
	g.line("func (*%s) Kind() %s { return %d }", name, u.kind, number)
	g.line("")
	g.line("func (%s*%s) appendTo(dst []byte) []byte {", receiver, name)
	g.line("dst = cbor.AppendMap(dst, %d)", 1+len(fields))
	g.line("dst = cbor.AppendUint(dst, 0)")
	g.line("dst = cbor.AppendUint(dst, %d)", number)
	if err := g.writeKeys(fields, 1); err != nil {
		return err
	}
	g.line("")
	g.line("func (%s*%s) readKeys(r *cbor.Reader, m cbor.IntMap) error {", receiver, name)
	if err := g.readKeys(fields); err != nil {
		return err
	}
	g.line("if err := r.EndIntMap(&m); err != nil {\nreturn &FieldError{Object: %q, Err: err}\n}", name)
	g.endReader(name)
	return nil
}

// orderCodec writes the codec of what an instruction asks for. The reader stands after
// the opcode.
func (g *generator) orderCodec(name, limit string) error {
	fields, err := g.keyed(name)
	if err != nil {
		return err
	}
	receiver := "x "
	if len(fields) == 0 {
		receiver = ""
	}
	g.line("")
	g.line("// Opcode returns [Op%s].", name)
	g.line("func (*%s) Opcode() uint64 { return Op%s }", name, name)
	g.line("")
	g.line("func (%s*%s) appendTo(dst []byte) []byte {", receiver, name)
	g.line("dst = cbor.AppendArray(dst, %d)", 1+len(fields))
	g.line("dst = cbor.AppendUint(dst, Op%s)", name)
	for _, f := range fields {
		if err := g.write(f, "x."+f.name, f.typ, false); err != nil {
			return err
		}
	}
	g.line("return dst\n}")
	g.line("")
	if receiver == "" {
		g.line("func (*%s) readFrom(*cbor.Reader) error { return nil }", name)
		return nil
	}
	g.line("func (x *%s) readFrom(r *cbor.Reader) error {", name)
	if limit != "" {
		g.line("start := r.Offset()")
	}
	for _, f := range fields {
		if err := g.read(f, "x."+f.name, f.typ, false); err != nil {
			return err
		}
	}
	if limit != "" {
		g.line("if r.Offset()-start > %s {\nreturn &FieldError{Object: %q, Err: cbor.ErrTooLong}\n}", limit, name)
	}
	g.endReader(name)
	return nil
}
