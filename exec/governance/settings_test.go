package governance

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// goldenSettings is what the state keeps of the action in TestSettingsHaveOneForm: a
// map of twelve, each text with its length before it, its values in hex. It may only
// change together with the format of the store.
var goldenSettings = strings.Join([]string{
	"ac",
	"67", hexOf("regions"), "82" + "627573" + "646d617273",
	"6c", hexOf("lane_profile"), "66637573746f6d",
	"6c", hexOf("min_base_fee"), "02",
	"71", hexOf("base_fee_per_lane"), "f4",
	"72", hexOf("governance.members"), "82" + "54" + hexOf(string(ann[:])) + "54" + hexOf(string(ben[:])),
	"72", hexOf("rent.eviction_mode"), "6464656274",
	"72", hexOf("timer.base_deposit"), "1b0102030405060708",
	"76", hexOf("inflation_basis_points"), "82" +
		"a2" + "6a" + hexOf("until_year") + "02" + "6c" + hexOf("basis_points") + "1901f4" +
		"a2" + "6a" + hexOf("until_year") + "00" + "6c" + hexOf("basis_points") + "01",
	"781c", hexOf("lane_share_basis_points.user"), "191770",
	"781d", hexOf("lane_share_basis_points.timer"), "1907d0",
	"781e", hexOf("lane_share_basis_points.runner"), "1905dc",
	"781e", hexOf("lane_share_basis_points.system"), "1901f4",
}, "")

func hexOf(text string) string { return hex.EncodeToString([]byte(text)) }

// decide carries an action out, and returns what the state keeps then.
func decide(t *testing.T, b *Book, a Action) []byte {
	t.Helper()
	id, _, err := b.Propose(ann, a.Append(nil), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Approve(ben, id); err != nil {
		t.Fatal(err)
	}
	b.Height += 5
	if _, _, err := b.Execute(ben, id); err != nil {
		t.Fatal(err)
	}
	kept, err := b.State.Storage(chain.AddrGovernance, settingsKey())
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// TestSettingsHaveOneForm pins what the state keeps of a decision, whatever its words
// and the order of its parts were.
func TestSettingsHaveOneForm(t *testing.T) { // ADR 87
	want, err := hex.DecodeString(goldenSettings)
	if err != nil {
		t.Fatal(err)
	}
	forms := []Action{
		settings(
			"regions", `["us","mars"]`, "min_base_fee", `"2"`, "base_fee_per_lane", "false", "rent.eviction_mode", `"debt"`,
			"timer.base_deposit", `"72623859790382856"`,
			"inflation_basis_points", `[{"until_year":2,"basis_points":500},{"until_year":0,"basis_points":1}]`,
			"governance.members", `["`+ann.String()+`","`+ben.String()+`"]`,
			"lane_profile", `"custom"`, "lane_share_basis_points", `{"system":500,"timer":2000,"runner":1500,"user":6000}`,
		),
		settings(
			"lane_share_basis_points", ` { "user" : 6000, "runner":1500, "system":500,"timer":2000}`, "lane_profile", `"\u0063ustom"`,
			"governance.members", `["0x`+strings.ToUpper(ann.String()[2:])+`","`+ben.String()+`"]`,
			"inflation_basis_points", `[{"basis_points":500, "until_year":2},{"until_year":0,"basis_points":1}]`,
			"timer.base_deposit", `72623859790382856`, "rent.eviction_mode", `"debt"`,
			"base_fee_per_lane", "false", "min_base_fee", `2`, "regions", "[ \"us\",\n\"mars\"]",
		),
	}
	for i, a := range forms {
		b := newBook()
		if got := decide(t, b, a); !bytes.Equal(got, want) {
			t.Errorf("words %d: the state keeps\n%x, want\n%x", i, got, want)
		}
		if got := decide(t, b, a); !bytes.Equal(got, want) {
			t.Errorf("words %d: a second time\n%x", i, got)
		}
	}
	b := newBook()
	decide(t, b, settings("rent.eviction_mode", `"timeline"`, "min_base_fee", "3"))
	if got := decide(t, b, forms[0]); !bytes.Equal(got, want) {
		t.Errorf("over other values: %x", got)
	}
	force, err := Genesis(b.Params).At(b.State)
	if err != nil || force.Params.LaneShareBasisPoints[chain.LaneUser] != 6_000 || len(force.Params.Governance.Members) != 2 {
		t.Errorf("in force: %+v, %v", force.Params, err)
	}
}

// TestDeprecationsHaveOneForm likewise for the setting that only an action of its own
// makes.
func TestDeprecationsHaveOneForm(t *testing.T) {
	got := decide(t, newBook(), Action{Name: ActionDeprecate, ID: "storage.kv"})
	want := "a1" + "77" + hex.EncodeToString([]byte("entitlements.deprecated")) + "81" +
		"a3" + "626964" + "6a" + hex.EncodeToString([]byte("storage.kv")) + "6466726f6d" + "10" + "646c617374" + "1a00093a90"
	if hex.EncodeToString(got) != want {
		t.Errorf("the state keeps\n%x, want\n%s", got, want)
	}
}

// TestSettingsThatWereVotedAreInForce: a value outside the bounds of this build's Check
// is one that an earlier build took. It is applied; only the next decision has to mend it.
func TestSettingsThatWereVotedAreInForce(t *testing.T) { // soundness W6
	b := newBook()
	odd := []params.KeptSetting{
		{Path: "regions", Value: []byte{0x80}},
		{Path: "base_fee_alpha", Value: []byte{0x19, 0x03, 0xe9}}, // 1001, one above the bound
		{Path: "timer.base_fee_alpha", Value: []byte{0x00}},
	}
	b.State.SetStorage(chain.AddrGovernance, settingsKey(), appendSettings(nil, odd))
	force, err := Genesis(b.Params).At(b.State)
	if err != nil || force.Params.BaseFeeAlpha != 1_001 || force.Params.Timer.BaseFeeAlpha != 0 || len(force.Params.Regions) != 0 {
		t.Fatalf("%v", err)
	}
	if force.Params.Check() == nil {
		t.Fatal("this build's Check takes them: the test shows nothing")
	}
	b.Params = force.Params
	if _, _, err := b.Propose(ann, appendAction(settings("timer.queue_target", "9")), false); !errors.Is(err, ErrAction) {
		t.Errorf("a decision that leaves them: %v", err)
	}
	if _, _, err := b.Propose(ann, appendAction(settings("base_fee_alpha", "9", "timer.base_fee_alpha", "9")), false); err != nil {
		t.Errorf("a decision that mends them: %v", err)
	}
}

func appendAction(a Action) []byte { return a.Append(nil) }

// TestSettingsOfAnotherBuild: what this build cannot read it names, and does not guess.
func TestSettingsOfAnotherBuild(t *testing.T) { // soundness W6
	text := cbor.AppendText(nil, "x")
	for _, tt := range []struct {
		path  string
		value []byte
	}{
		{"base_fee_beta", []byte{9}},                                     // not known
		{"base_fee_alpha", text},                                         // of another type
		{"base_fee_alpha", []byte{0x20}},                                 // negative
		{"base_fee_alpha.x", []byte{9}},                                  // below a number
		{"rent", []byte{0xa0}},                                           // a group
		{"lane_share_basis_points", []byte{0xa0}},                        // likewise
		{"", []byte{0xa0}},                                               // all
		{"base_fee_alpha.", []byte{9}},                                   // an empty name
		{"regions", []byte{0x81, 0x01}},                                  // an item of another type
		{"inflation_basis_points", []byte{0x81, 0xa0}},                   // an item without members
		{"governance.members", []byte{0x81, 0x42, 1, 2}},                 // a short address
		{"entitlements.deprecated", []byte{0x81, 0xa1, 0x61, 'x', 0x00}}, // an item with another member
	} {
		o := state.NewOverlay(state.Empty{})
		o.SetStorage(chain.AddrGovernance, settingsKey(), appendSettings(nil, []params.KeptSetting{{Path: tt.path, Value: tt.value}}))
		p := params.Default()
		_, err := Genesis(&p).At(o)
		var other *params.KeptSettingError
		if !errors.As(err, &other) || other.Path != tt.path || !strings.Contains(err.Error(), tt.path) || !strings.Contains(err.Error(), "newer build") {
			t.Errorf("%s = %x: %v", tt.path, tt.value, err)
		}
	}
}

// FuzzSettings holds the reader to its writer: the settings of a state have one form,
// whatever bytes they are made of, and what can be put in force is kept as it was.
func FuzzSettings(f *testing.F) {
	golden, err := hex.DecodeString(goldenSettings)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(appendSettings(nil, []params.KeptSetting{{Path: "base_fee_alpha", Value: []byte{9}}, {Path: "regions", Value: []byte{0x81, 0x62, 'u', 's'}}}))
	p := params.Default()
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := readSettings(b)
		if err != nil || b == nil {
			return
		}
		if !bytes.Equal(appendSettings(nil, list), b) {
			t.Errorf("%x came back as %x", b, appendSettings(nil, list))
		}
		var merged []params.KeptSetting
		for i := range list {
			merged = merge(merged, list[len(list)-1-i])
		}
		if !bytes.Equal(appendSettings(nil, merged), b) {
			t.Errorf("%x put together in another order is %x", b, appendSettings(nil, merged))
		}
		next, err := p.With(list...)
		var other *params.KeptSettingError
		if err != nil {
			if !errors.As(err, &other) {
				t.Error(err)
			}
			return
		}
		for _, k := range list {
			again, err := next.Kept(k.Path)
			if err != nil || len(again) != 1 || !bytes.Equal(again[0].Value, k.Value) {
				t.Errorf("%s = %x is kept as %x, %v", k.Path, k.Value, again, err)
			}
			words, err := k.Setting()
			if err != nil {
				t.Fatal(err)
			}
			if back, err := params.Keep(words); err != nil || len(back) != 1 || !bytes.Equal(back[0].Value, k.Value) {
				t.Errorf("%s = %s is kept as %x, %v; it was %x", k.Path, words.Value, back, err, k.Value)
			}
		}
		if err := next.Check(); err == nil {
			_ = undoable(next, len(b))
		}
	})
}

func TestMerge(t *testing.T) {
	var list []params.KeptSetting
	for i, path := range []string{"a.b", "c", "b", "a.bb", "a.b", "a"} {
		list = merge(list, params.KeptSetting{Path: path, Value: []byte{byte(i)}})
	}
	var got []string
	for _, k := range list {
		got = append(got, k.Path)
	}
	if strings.Join(got, " ") != "a b c a.b a.bb" || list[3].Value[0] != 4 {
		t.Errorf("%+v", list)
	}
}
