package rpc_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

func TestActorAnswers(t *testing.T) {
	source, _, _ := filled(t)
	s := newServer(t, testConfig(), source)
	at := rpctest.ActorAddress.String()

	a := decode[rpc.ActorReply](t, request(s, "GET", "/actor/"+at[2:], "", nil))
	if a.Address != at || a.Balance != 5 || a.MailboxCount != 1 || string(a.Storage["n"]) != "7" || a.Entitlements[0].ID != "storage.kv" || a.Parent != nil || a.Rent.State != "paid" || a.Rent.Bytes != 3 {
		t.Errorf("actor %+v", a)
	}
	if w := request(s, "GET", "/actor/"+at, "", nil).Body.String(); !strings.Contains(w, `"balance":"5"`) {
		t.Errorf("balance is not a string (resolution 11.37): %s", w)
	}
	if a := decode[rpc.ActorReply](t, request(s, "GET", "/actor/"+at+"?limit=0", "", nil)); len(a.Storage) != 0 {
		t.Errorf("storage %v without being asked for", a.Storage)
	}
	for prefix, found := range map[string]int{"": 1, "n": 1, "n%20": 0, "m": 0} {
		if a := decode[rpc.ActorReply](t, request(s, "GET", "/actor/"+at+"?prefix="+prefix, "", nil)); len(a.Storage) != found {
			t.Errorf("prefix %q: storage %v", prefix, a.Storage)
		}
	}
	logs := decode[rpc.LogsReply](t, request(s, "GET", "/actor/"+at+"/logs", "", nil))
	if len(logs.Logs) != 1 || logs.Logs[0].Name != "added" || string(logs.Logs[0].Value) != "7" || logs.Next != "" || logs.Height == 0 {
		t.Errorf("logs %+v", logs)
	}
	read := decode[rpc.ReadReply](t, request(s, "POST", "/actor/read", "application/json", []byte(`{"actor":"`+at+`","handler":"get","value":{"a":[1,2.5]}}`)))
	if read.Status != "success" || string(read.Value) != `{"a":[1,2.5]}` || read.CyclesUsed == 0 {
		t.Errorf("read %+v", read)
	}
	read = decode[rpc.ReadReply](t, request(s, "POST", "/actor/read", "", []byte(`{"actor":"`+at+`","handler":"missing","payload":"0x05"}`)))
	if read.Status != "failed" || read.RevertReason != "no_handler" || read.Detail == "" {
		t.Errorf("failed read %+v", read)
	}
	quote := decode[rpc.EstimateReply](t, request(s, "POST", "/estimate", "", []byte(`{"sender":"`+at+`","to":null,"payload":"0x80"}`)))
	if quote.Actor == nil || *quote.Actor != at || quote.Fee == 0 || quote.CyclesLimit == 0 || quote.Lane != "user" {
		t.Errorf("estimate %+v", quote)
	}
}

func TestActorRefusals(t *testing.T) {
	source, _, _ := filled(t)
	s := newServer(t, testConfig(), source)
	at := rpctest.ActorAddress.String()
	for _, tt := range []struct {
		rule, method, target, body string
		status                     int
		code                       rpc.Code
	}{
		{"no actor there", "GET", "/actor/" + strings.Repeat("33", 20), "", 404, rpc.CodeUnknownActor},
		{"no address", "GET", "/actor/0x12", "", 400, rpc.CodeBadAddress},
		{"page too large", "GET", "/actor/" + at + "?limit=1001", "", 400, rpc.CodeBadNumber},
		{"prefix of no key", "GET", "/actor/" + at + "?prefix=" + strings.Repeat("k", 1025), "", 400, rpc.CodeBadSlot},
		{"page from a slot too long", "GET", "/actor/" + at + "?from=" + strings.Repeat("01", 1026), "", 400, rpc.CodeBadSlot},
		{"page from no slot", "GET", "/actor/" + at + "?from=zz", "", 400, rpc.CodeBadSlot},
		{"logs of nothing", "GET", "/actor/" + at + "/logs?limit=0", "", 400, rpc.CodeBadNumber},
		{"too many logs", "GET", "/actor/" + at + "/logs?limit=1001", "", 400, rpc.CodeBadNumber},
		{"logs from no number", "GET", "/actor/" + at + "/logs?from=-1", "", 400, rpc.CodeBadNumber},
		{"logs to no number", "GET", "/actor/" + at + "/logs?to=x", "", 400, rpc.CodeBadNumber},
		{"logs after no place", "GET", "/actor/" + at + "/logs?after=1.2", "", 400, rpc.CodeBadNumber},
		{"logs after a place that is none", "GET", "/actor/" + at + "/logs?after=1.2.99999999999", "", 400, rpc.CodeBadNumber},
		{"logs in no order", "GET", "/actor/" + at + "/logs?order=up", "", 400, rpc.CodeBadRequest},
		{"read by GET is an address", "GET", "/actor/read", "", 400, rpc.CodeBadAddress},
		{"read of nobody", "POST", "/actor/read", `{"handler":"get"}`, 400, rpc.CodeBadAddress},
		{"read without handler", "POST", "/actor/read", `{"actor":"` + at + `"}`, 400, rpc.CodeBadRequest},
		{"read with a long handler", "POST", "/actor/read", `{"actor":"` + at + `","handler":"` + strings.Repeat("h", 300) + `"}`, 400, rpc.CodeBadRequest},
		{"payload and value", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","payload":"0x01","value":1}`, 400, rpc.CodeBadRequest},
		{"payload is no hex", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","payload":"0x0"}`, 400, rpc.CodeBadPayload},
		{"value is no value", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","value":{"$int":"x"}}`, 400, rpc.CodeBadPayload},
		{"value nested deeply", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","value":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, 400, rpc.CodeBadPayload},
		{"read with a bad sender", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","sender":"x"}`, 400, rpc.CodeBadAddress},
		{"read with an unknown field", "POST", "/actor/read", `{"actor":"` + at + `","handler":"get","x":1}`, 400, rpc.CodeBadJSON},
		{"estimate of nobody's", "POST", "/estimate", `{}`, 400, rpc.CodeBadAddress},
		{"estimate to no address", "POST", "/estimate", `{"sender":"` + at + `","to":"0x"}`, 400, rpc.CodeBadAddress},
		{"estimate of no payload", "POST", "/estimate", `{"sender":"` + at + `","payload":"zz"}`, 400, rpc.CodeBadPayload},
		{"estimate of a negative value", "POST", "/estimate", `{"sender":"` + at + `","value":"-1"}`, 400, rpc.CodeBadJSON},
		{"estimate above a transaction", "POST", "/estimate", `{"sender":"` + at + `","payload":"` + strings.Repeat("0", 300_000) + `"}`, 413, rpc.CodeBodyTooLarge},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			wantError(t, request(s, tt.method, tt.target, "", []byte(tt.body)), tt.status, tt.code)
		})
	}
	source.Fault = diskFault{}
	for _, target := range []string{"/actor/" + at, "/actor/" + at + "/logs"} {
		wantError(t, request(s, "GET", target, "", nil), 500, rpc.CodeInternal)
	}
}

type diskFault struct{}

func (diskFault) Error() string { return "disk on fire" }
