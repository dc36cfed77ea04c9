//spec:implements entitlements 12.1

package manifest_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// item appends one canonical value of a test's table.
func item(b []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return cbor.AppendInt(b, int64(v))
	case uint64:
		return cbor.AppendUint(b, v)
	case float64:
		return cbor.AppendFloat(b, v)
	case bool:
		return cbor.AppendBool(b, v)
	case string:
		return cbor.AppendText(b, v)
	case []byte:
		return cbor.AppendBytes(b, v)
	case []any:
		b = cbor.AppendArray(b, len(v))
		for _, e := range v {
			b = item(b, e)
		}
		return b
	case pairs:
		b = cbor.AppendMap(b, len(v)/2)
		for _, e := range v {
			b = item(b, e)
		}
		return b
	}
	return cbor.AppendNull(b)
}

// pairs are the keys and values of a map, in canonical order.
type pairs []any

func list(items ...any) []any { return items }

// grant is {"id": id, "params": params}.
func grant(id string, params ...any) pairs {
	if len(params) == 0 {
		return pairs{"id", id}
	}
	return pairs{"id", id, "params", pairs(params)}
}

func grantsText(grants ...any) []byte { return item(nil, pairs{"entitlements", grants}) }

var deployer, stranger = chain.Address{1}, chain.Address{2}

func testParams() *params.Params {
	p := params.Default()
	p.Entitlements.SystemDeployers = []chain.Address{deployer}
	return &p
}

func admit(m []byte, creator chain.Address) uint16 {
	if _, err := manifest.Admit(m, manifest.Request{Params: testParams(), Height: 10, Creator: creator}); err != nil {
		return manifest.CodeOf(err)
	}
	return chain.CodeOK
}

func TestAdmit(t *testing.T) { // E1-E7, E22; entitlements §9, §10; resolution 11.7
	address := bytes.Repeat([]byte{7}, 20)
	form, param := chain.CodeManifest, chain.CodeEntitlementParam
	for _, c := range []struct {
		name string
		m    []byte
		want uint16
	}{
		{"E1 empty list", grantsText(), chain.CodeOK},
		{"E1 no map", item(nil, list()), form},
		{"E1 empty map", item(nil, pairs{}), form},
		{"E1 null", item(nil, nil), form},
		{"E1 another name", item(nil, pairs{"permissions", list()}), form},
		{"E1 another field", item(nil, pairs{"a", 1, "entitlements", list()}), form},
		{"E1 a map of grants", item(nil, pairs{"entitlements", pairs{"storage.kv", 1}}), form},
		{"E1 grant as text", grantsText("storage.kv"), form},
		{"E1 grant without id", grantsText(pairs{"params", pairs{}}), form},
		{"E1 another field of a grant", grantsText(pairs{"id", "storage.kv", "x", 1}), form},
		{"E1 params are a list", grantsText(pairs{"id", "storage.kv", "params", list()}), form},
		{"E1 bytes follow", append(grantsText(), 0), form},
		{"E1 too many", grantsText(make([]any, 65)...), form},

		{"E2 unknown", grantsText(grant("storage.sql")), form},
		{"E2 upper case", grantsText(grant("Storage.kv")), form},
		{"E2 trailing dot", grantsText(grant("storage.kv.")), form},
		{"E2 space", grantsText(grant("storage.kv ")), form},
		{"E2 look-alike", grantsText(grant("stоrage.kv")), form}, // Cyrillic o
		{"E2 full-width dot", grantsText(grant("storage．kv")), form},
		{"E2 prefix", grantsText(grant("storage")), form},
		{"E2 wildcard", grantsText(grant("storage.*")), form},
		{"E2 zero byte", grantsText(grant("storage.kv\x00")), form},
		{"E2 long", grantsText(grant(strings.Repeat("a", 65))), form},

		{"E3 twice", grantsText(grant("storage.kv"), grant("storage.kv")), form},
		{"E3 twice, other params", grantsText(grant("storage.kv"), grant("storage.kv", "max_bytes", 1)), form},
		{"E4 order", grantsText(grant("storage.kv"), grant("econ.transfer")), form},
		{"E4 order by bytes, not by length", grantsText(grant("econ.transfer"), grant("accel.gpu")), form},

		{"E5 unlisted", grantsText(grant("storage.kv", "max_timers", 1)), param},
		{"E5 unlisted, for none", grantsText(grant("econ.hold_balance", "max_amount", 1)), param},
		{"E5 case", grantsText(grant("storage.kv", "Max_bytes", 1)), param},
		{"E5 absent", grantsText(grant("accel.gpu"), grant("econ.transfer"), grant("exec.spawn"), grant("oracle.llm"), grant("sec.tee_required"), grant("storage.kv"), grant("timer.schedule")), chain.CodeOK},
		{"E5 http without domains", grantsText(grant("http.fetch")), param},
		{"E5 http with a count only", grantsText(grant("http.fetch", "max_requests", 1)), param},
		{"E5 http by set", grantsText(grant("http.fetch", "domain_set", "price_feeds")), chain.CodeOK},
		{"E5 http by both", grantsText(grant("http.fetch", "domain_set", "price_feeds", "allowlist_domains", list("a.com"))), chain.CodeOK},
		{"E5 unknown set", grantsText(grant("http.fetch", "domain_set", "price_feed")), param},

		{"E6 zero", grantsText(grant("storage.kv", "max_bytes", 0)), chain.CodeOK},
		{"E6 largest", grantsText(grant("storage.kv", "max_bytes", uint64(math.MaxUint64))), chain.CodeOK},
		{"E6 negative", grantsText(grant("storage.kv", "max_bytes", -1)), param},
		{"E6 float", grantsText(grant("storage.kv", "max_bytes", 1.5)), param},
		{"E6 text", grantsText(grant("storage.kv", "max_bytes", "1")), param},
		{"E6 bool", grantsText(grant("storage.kv", "max_bytes", true)), param},
		{"E6 null", grantsText(grant("storage.kv", "max_bytes", nil)), param},
		{"E6 list", grantsText(grant("storage.kv", "max_bytes", list())), param},
		{"E6 map", grantsText(grant("storage.kv", "max_bytes", pairs{})), param},
		{"E6 one text for a list", grantsText(grant("http.fetch", "allowlist_domains", "a.com")), param},
		{"E6 numbers in a list", grantsText(grant("http.fetch", "allowlist_domains", list(1))), param},
		{"E6 list for a text", grantsText(grant("sec.data_residency", "region", list("eu"))), param},
		{"E6 address", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list(address))), chain.CodeOK},
		{"E6 no address", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list())), chain.CodeOK},
		{"E6 short address", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list(address[:19]))), param},
		{"E6 long address", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list(append(address, 1)))), param},
		{"E6 address as text", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list("0x00"))), param},
		{"E6 assets", grantsText(grant("bridge.asset", "allowlist_assets", list("cby", "*"))), chain.CodeOK},
		{"E6 empty asset", grantsText(grant("bridge.asset", "allowlist_assets", list(""))), param},
		{"E6 asset as bytes", grantsText(grant("bridge.asset", "allowlist_assets", list(address))), param},
		{"E6 region", grantsText(grant("sec.data_residency", "region", "eu")), chain.CodeOK},
		{"E6 unknown region", grantsText(grant("sec.data_residency", "region", "EU")), param},
		{"E6 enclave", grantsText(grant("sec.tee_required", "tee_type", "sgx")), chain.CodeOK},
		{"E6 longest asset", grantsText(grant("bridge.asset", "allowlist_assets", list(strings.Repeat("a", manifest.MaxValueBytes)))), chain.CodeOK},
		{"E6 asset too long", grantsText(grant("bridge.asset", "allowlist_assets", list(strings.Repeat("a", manifest.MaxValueBytes+1)))), param},
		{"E6 longest list", grantsText(grant("bridge.asset", "allowlist_assets", repeated("a", manifest.MaxListItems))), chain.CodeOK},
		{"E6 list too long", grantsText(grant("bridge.asset", "allowlist_assets", repeated("a", manifest.MaxListItems+1))), param},
		{"E6 most addresses", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", repeated(address, manifest.MaxListItems))), chain.CodeOK},
		{"E6 too many addresses", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", repeated(address, manifest.MaxListItems+1))), param},
		{"E6 an address and a text", grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list(address, "a"))), param},
		{"E6 unknown enclave", grantsText(grant("sec.tee_required", "tee_type", "sgx2")), param},

		{"E7 domains", grantsText(grant("http.fetch", "allowlist_domains", list("*", "*.example.com", "api.example.com", "xn--bcher-kva.de"))), chain.CodeOK},
		{"E7 upper case", grantsText(grant("http.fetch", "allowlist_domains", list("API.example.com"))), param},
		{"E7 Unicode", grantsText(grant("http.fetch", "allowlist_domains", list("bücher.de"))), param},
		{"E7 trailing dot", grantsText(grant("http.fetch", "allowlist_domains", list("example.com."))), param},
		{"E7 port", grantsText(grant("http.fetch", "allowlist_domains", list("example.com:80"))), param},
		{"E7 scheme", grantsText(grant("http.fetch", "allowlist_domains", list("https://example.com"))), param},
		{"E7 empty label", grantsText(grant("http.fetch", "allowlist_domains", list("a..com"))), param},
		{"E7 long label", grantsText(grant("http.fetch", "allowlist_domains", list(strings.Repeat("a", 64)+".com"))), param},

		{"E22 sys.upgrade by anyone", grantsText(grant("sys.upgrade")), chain.CodeSystemEntitlement},
	} {
		if got := admit(c.m, stranger); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, chain.CodeName(got), chain.CodeName(c.want))
		}
	}
	if got := admit(grantsText(grant("sys.upgrade")), deployer); got != chain.CodeOK {
		t.Errorf("E22 sys.upgrade by a system deployer: %s", chain.CodeName(got))
	}
}

func repeated(v any, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestParse holds the form alone, and what was read to the bytes it was read from.
func TestParse(t *testing.T) { // E1; entitlements §3.2
	long := strings.Repeat("x", manifest.MaxIDBytes)
	named := func(n int) (out pairs) {
		for i := range n {
			out = append(out, string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}), i)
		}
		return out
	}
	for _, c := range []struct {
		rule string
		list any
		ok   bool
	}{
		{"none", list(), true},
		{"no list", pairs{}, false},
		{"most grants", repeated(grant("a"), manifest.MaxGrants), true},
		{"too many grants", repeated(grant("a"), manifest.MaxGrants+1), false},
		{"longest id", list(grant(long)), true},
		{"id too long", list(grant(long + "x")), false},
		{"id of another type", list(pairs{"id", 1}), false},
		{"empty grant", list(pairs{}), false},
		{"empty id", list(grant("")), false},
		{"no id", list(pairs{"params", pairs{"a", 1}}), false},
		{"another name for the id", list(pairs{"di", "a"}), false},
		{"id twice", list(pairs{"id", "a", "id", "b"}), false},
		{"another name for the parameters", list(pairs{"id", "a", "param", pairs{"a", 1}}), false},
		{"parameters first", list(pairs{"params", pairs{"a", 1}, "id", "a"}), false},
		{"parameters twice", list(pairs{"id", "a", "params", pairs{"a", 1}, "params", pairs{"a", 1}}), false},
		{"a parameter twice", list(grant("a", "max_bytes", 1, "max_bytes", 1)), false},
		{"parameters in another order", list(grant("a", "b", 1, "a", 1)), false},
		{"a parameter's name is a number", list(grant("a", 1, 1)), false},
		{"longest name", list(grant("a", long, 1)), true},
		{"name too long", list(grant("a", long+"x", 1)), false},
		{"most parameters", list(pairs{"id", "a", "params", named(manifest.MaxGrants)}), true},
		{"too many parameters", list(pairs{"id", "a", "params", named(manifest.MaxGrants + 1)}), false},
		{"every type", list(grant("a", "n", uint64(math.MaxUint64), "text", "eu", "addrs", list(make([]byte, 20), bytes.Repeat([]byte{9}, 20)), "texts", list("a", "*"))), true},
	} {
		b := item(nil, c.list)
		g, err := manifest.Parse(b)
		switch {
		case (err == nil) != c.ok:
			t.Errorf("%s: %v", c.rule, err)
		case err != nil && manifest.CodeOf(err) != chain.CodeManifest:
			t.Errorf("%s: %s", c.rule, chain.CodeName(manifest.CodeOf(err)))
		case err == nil && !bytes.Equal(g.Append(nil), b):
			t.Errorf("%s: %x came back as %x", c.rule, b, g.Append(nil))
		}
		if _, err := manifest.Parse(append(b, 0)); err == nil {
			t.Errorf("%s: a byte follows", c.rule)
		}
	}
}

func TestExamplesOfTheSpecification(t *testing.T) { // entitlements §12.1; resolution 11.7
	m := grantsText(
		grant("econ.transfer", "max_amount", 1000),
		grant("http.fetch", "allowlist_domains", list("api.coingecko.com")),
		grant("oracle.llm", "max_tokens", 2000),
		grant("storage.kv", "max_bytes", 1048576),
		grant("timer.schedule", "max_timers", 10),
	)
	if got := admit(m, stranger); got != chain.CodeOK {
		t.Errorf("%s", chain.CodeName(got))
	}
}

func TestRegistryIsTheTable(t *testing.T) { // entitlements §9.1-§9.9
	yes := func(s string, b bool) string {
		if b {
			return s
		}
		return "-"
	}
	var got []string
	for _, e := range manifest.Registry() {
		got = append(got, strings.Join([]string{e.ID, yes("i", e.Inheritable) + yes("a", e.Attested) + yes("q", e.Quota), strings.Join(e.Params, ",")}, " "))
	}
	want := `accel.gpu -aq min_vram_gb
bridge.asset --q allowlist_assets
bridge.subscribe_event --q allowlist_contracts
econ.hold_balance i-- 
econ.transfer --q max_amount,max_per_block
exec.spawn i-q max_children
http.fetch iaq allowlist_domains,domain_set,max_requests
oracle.llm -aq max_tokens,max_requests
sec.data_residency ia- region
sec.tee_required ia- tee_type
storage.blob i-q max_bytes
storage.kv i-q max_bytes
sys.upgrade --- 
timer.schedule i-q max_timers`
	if strings.Join(got, "\n") != want {
		t.Errorf("registry:\n%s", strings.Join(got, "\n"))
	}
}

func TestCovers(t *testing.T) { // E8; entitlements §8.2
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"*", "example.com", true},
		{"*", "*.example.com", true},
		{"*.example.com", "api.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "*.b.example.com", true},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "badexample.com", false},
		{"*.example.com", "example.com.evil.org", false},
		{"*.example.com", "*", false},
		{"example.com", "example.com", true},
		{"example.com", "api.example.com", false},
		{"example.com", "*.example.com", false},
		{"*.b.example.com", "*.example.com", false},
	} {
		if got := manifest.Covers(c.pattern, c.host); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.host, got)
		}
	}
}

func TestHost(t *testing.T) { // E7
	for name, want := range map[string]string{
		"API.Example.COM": "api.example.com", "example.com.": "example.com", "Bücher.de": "xn--bcher-kva.de",
		"BÜCHER.de": "xn--bcher-kva.de", "пример.рф": "xn--e1afmkfd.xn--p1ai", "中国": "xn--fiqs8s", "xn--P1AI": "xn--p1ai",
		"ＥＸＡＭＰＬＥ．com": "example.com", "Münster-ÄÖÜ.com": "xn--mnster--cxa6n1bi.com", "1Ü": "xn--1-eha",
		// RFC 3492 §7.1
		"ليهمابتكلموشعربي؟": "xn--egbpdaj6bu4bxfgehfvwxn", "他们为什么不说中文": "xn--ihqwcrb4cv8a8dqg056pqjye",
		"他們爲什麽不說中文": "xn--ihqwctvzc91f659drss3x8bo0yb", "Pročprostěnemluvíčesky": "xn--proprostnemluvesky-uyb24dma41a",
		"למההםפשוטלאמדבריםעברית": "xn--4dbcagdahymbxekheh6e0a7fei0b", "なぜみんな日本語を話してくれないのか": "xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
		"почемужеонинеговорятпорусски": "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l", "PorquénopuedensimplementehablarenEspañol": "xn--porqunopuedensimplementehablarenespaol-fmd56a",
		"TạisaohọkhôngthểchỉnóitiếngViệt": "xn--tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g", "3年B組金八先生": "xn--3b-ww4c5e180e575a65lsy2b",
		"Hello-Another-Way-それぞれの場所": "xn--hello-another-way--fc4qua05auwb3674vfr0b", "ひとつ屋根の下2": "xn--2-u9tlzr9756bt3uc0v",
		"MajiでKoiする5秒前": "xn--majikoi5-783gue6qz075azm5e", "パフィーdeルンバ": "xn--de-jg4avhby1noc0d", "そのスピードで": "xn--d9juau41awczczp",
	} {
		if got, ok := manifest.Host(name); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", ".", "a..b", "*", "*.com", "a b", "a:80", "http://a", "1.2.3.4", "a_b.com", strings.Repeat("ü", 70)} {
		if got, ok := manifest.Host(name); ok {
			t.Errorf("%q is a host: %q", name, got)
		}
	}
}

func grants(t testing.TB, items ...any) manifest.Grants {
	t.Helper()
	g, err := manifest.Parse(item(nil, items))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(testParams(), 1); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestProvides(t *testing.T) { // E12-E16; entitlements §8
	http := func(params ...any) pairs { return grant("http.fetch", params...) }
	domains := func(d ...any) pairs { return http("allowlist_domains", list(d...)) }
	for _, c := range []struct {
		name          string
		runner, actor pairs
		want          bool
	}{
		{"E12 other id", grant("oracle.llm"), domains("a.com"), false},
		{"E12 chain's own", grant("oracle.llm"), grant("storage.kv"), true},
		{"E13 within", domains("a.com", "b.com"), domains("b.com"), true},
		{"E13 not within", domains("a.com"), domains("a.com", "b.com"), false},
		{"E13 all", domains("*"), domains("a.com", "*.b.com"), true},
		{"E13 all of a part", domains("*.b.com"), domains("*.b.com", "x.b.com"), true},
		{"E13 asks for all", domains("a.com"), domains("*"), false},
		{"E14 equal", grant("oracle.llm", "max_tokens", 10), grant("oracle.llm", "max_tokens", 10), true},
		{"E14 one less", grant("oracle.llm", "max_tokens", 9), grant("oracle.llm", "max_tokens", 10), false},
		{"E14 runner without limit", grant("oracle.llm"), grant("oracle.llm", "max_tokens", 10), true},
		{"E14 actor without limit", grant("oracle.llm", "max_tokens", 9), grant("oracle.llm"), false},
		{"E14 memory", grant("accel.gpu", "min_vram_gb", 24), grant("accel.gpu", "min_vram_gb", 25), false},
		{"E14 any memory", grant("accel.gpu", "min_vram_gb", 24), grant("accel.gpu"), true},
		{"E15 equal", grant("sec.tee_required", "tee_type", "sgx"), grant("sec.tee_required", "tee_type", "sgx"), true},
		{"E15 other", grant("sec.tee_required", "tee_type", "sgx"), grant("sec.tee_required", "tee_type", "tdx"), false},
		{"E15 any for the actor", grant("sec.tee_required", "tee_type", "sgx"), grant("sec.tee_required"), true},
		{"E15 any at the runner", grant("sec.data_residency"), grant("sec.data_residency", "region", "eu"), true},
		{"E16 union, half", domains("a.com"), http("domain_set", "social_apis", "allowlist_domains", list("a.com")), false},
		{"E16 union, both", http("domain_set", "social_apis", "allowlist_domains", list("a.com")), http("domain_set", "social_apis", "allowlist_domains", list("a.com")), true},
		{"E16 set by list", domains("*.reddit.com", "api.twitter.com", "api.x.com"), http("domain_set", "social_apis"), true},
		{"E16 list by set", http("domain_set", "social_apis"), domains("api.x.com"), true},
		{"E16 list beyond the set", http("domain_set", "social_apis"), domains("a.com"), false},
		{"E16 all", domains("*"), http("domain_set", "social_apis", "allowlist_domains", list("a.com")), true},
	} {
		if got := manifest.Provides(grants(t, c.runner), grants(t, c.actor), testParams()); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	anywhere, err := manifest.Parse(item(nil, list(http()))) // resolution 8.10: what a runner does not bound is any
	if err != nil || !manifest.Provides(anywhere, grants(t, domains("a.com")), testParams()) {
		t.Errorf("E16 a runner that names no domains: %v", err)
	}
}

// TestAttested counts what a runner is held to, item by item.
func TestAttested(t *testing.T) {
	set, _ := testParams().Entitlements.DomainSet("social_apis")
	for _, c := range []struct {
		name string
		list []any
		want int
	}{
		{"nothing", nil, 0},
		{"the chain's own", []any{grant("storage.kv", "max_bytes", 100)}, 0},
		{"no list", []any{grant("accel.gpu", "min_vram_gb", 24), grant("oracle.llm", "max_tokens", 10)}, 0},
		{"a list and a set", []any{grant("http.fetch", "domain_set", "social_apis", "allowlist_domains", list("a.com", "b.com"))}, 2 + len(set)},
	} {
		g, err := manifest.Parse(item(nil, list(c.list...)))
		if got := g.Attested(testParams()); err != nil || len(set) == 0 || got != uint64(c.want) {
			t.Errorf("%s: %d items, want %d; %v", c.name, got, c.want, err)
		}
	}
}

func TestInherit(t *testing.T) { // E19; entitlements §7
	parent := grants(t, grant("econ.hold_balance"), grant("econ.transfer"), grant("exec.spawn", "max_children", 3),
		grant("http.fetch", "allowlist_domains", list("*.a.com", "b.com")), grant("storage.kv", "max_bytes", 100))
	all, err := manifest.Inherit(parent, nil, testParams())
	if err != nil || len(all) != 4 || all.Has("econ.transfer") {
		t.Errorf("all that may be inherited: %v %v", all, err)
	}
	for _, c := range []struct {
		name string
		g    pairs
		want uint16
	}{
		{"equal", grant("storage.kv", "max_bytes", 100), chain.CodeOK},
		{"one more", grant("storage.kv", "max_bytes", 101), chain.CodeEntitlementParam},
		{"without the limit", grant("storage.kv"), chain.CodeEntitlementParam},
		{"not inheritable", grant("econ.transfer"), chain.CodeNotEntitled},
		{"not the parent's", grant("storage.blob"), chain.CodeNotEntitled},
		{"domains", grant("http.fetch", "allowlist_domains", list("x.a.com")), chain.CodeOK},
		{"other domains", grant("http.fetch", "allowlist_domains", list("a.com")), chain.CodeEntitlementParam},
		{"a set", grant("http.fetch", "domain_set", "price_feeds"), chain.CodeEntitlementParam},
		{"own limit", grant("http.fetch", "allowlist_domains", list("b.com"), "max_requests", 1), chain.CodeOK},
	} {
		if c.name == "own limit" {
			c.g = pairs{"id", "http.fetch", "params", pairs{"max_requests", 1, "allowlist_domains", list("b.com")}}
		}
		got := chain.CodeOK
		if _, err := manifest.Inherit(parent, grants(t, c.g), testParams()); err != nil {
			got = manifest.CodeOf(err)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, chain.CodeName(got), chain.CodeName(c.want))
		}
	}
}

// TestInheritedSets: what governance adds to a curated set is the child's only where it
// is the parent's.
func TestInheritedSets(t *testing.T) { // E19; entitlements §7, §8.4
	p := testParams()
	set, _ := p.Entitlements.DomainSet("social_apis")
	members := make([]any, len(set))
	for i, d := range set {
		members[i] = d
	}
	http := func(params ...any) pairs { return grant("http.fetch", params...) }
	named, listed := http("domain_set", "social_apis"), http("allowlist_domains", list(members...))
	both := http("domain_set", "social_apis", "allowlist_domains", list("a.com"))
	everything := http("allowlist_domains", list("*"))
	for _, tt := range []struct {
		rule           string
		parent, wanted pairs
		ok             bool
	}{
		{"the same set", named, named, true},
		{"the set of both", both, named, true},
		{"the set and a name, of both", both, both, true},
		{"a name besides the set", named, both, false},
		{"a set within everything", everything, named, true},
		{"a set within the list of all it has", listed, named, false},
		{"a list of all that the set has", named, listed, true},
		{"another set", http("domain_set", "price_feeds"), named, false},
	} {
		if _, err := manifest.Inherit(grants(t, tt.parent), grants(t, tt.wanted), p); (err == nil) != tt.ok || err != nil && manifest.CodeOf(err) != chain.CodeEntitlementParam {
			t.Errorf("%s: %v", tt.rule, err)
		}
	}
	unbounded, err := manifest.Parse(item(nil, list(http()))) // not of a manifest (resolution 11.7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Inherit(unbounded, grants(t, named), p); err != nil {
		t.Errorf("a set within no bound: %v", err)
	}
}

func TestDeprecation(t *testing.T) { // E25; entitlements §9.11
	p := testParams()
	p.Entitlements.Deprecated = []params.Deprecation{{ID: "storage.blob", From: 100, Last: 150}}
	g := grants(t, grant("storage.blob"), grant("storage.kv"))
	for h, want := range map[chain.Height][2]int{99: {0, 0}, 100: {1, 0}, 150: {1, 0}, 151: {0, 1}} {
		gone := 0
		if g.Gone(p, h) == "storage.blob" {
			gone = 1
		}
		if got := [2]int{len(g.Deprecated(p, h)), gone}; got != want {
			t.Errorf("height %d: %v, want %v", h, got, want)
		}
		err := g.Check(p, h)
		if (err != nil) != (gone == 1) || err != nil && manifest.CodeOf(err) != chain.CodeManifest {
			t.Errorf("height %d: %v", h, err)
		}
	}
}

func FuzzAdmit(f *testing.F) {
	f.Add(grantsText(grant("http.fetch", "domain_set", "price_feeds", "allowlist_domains", list("a.com"))))
	f.Add(grantsText(grant("bridge.subscribe_event", "allowlist_contracts", list(make([]byte, 20)))))
	f.Add(grantsText(grant("storage.kv", "max_bytes", 1.5)))
	f.Fuzz(func(t *testing.T, m []byte) {
		req := manifest.Request{Params: testParams(), Height: 1}
		out, err := manifest.Admit(m, req)
		if err != nil {
			return
		}
		g, err := manifest.Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(req.Params, 1); err != nil {
			t.Fatal(err)
		}
		// A params map without members is the one thing with two spellings.
		again, err := manifest.Parse(g.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), g.Append(nil)) {
			t.Fatalf("%x came back as %x, %v", out, g.Append(nil), err)
		}
		if !manifest.Provides(g, g, req.Params) {
			t.Fatal("a list does not provide itself")
		}
	})
}
