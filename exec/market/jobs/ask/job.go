package ask

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// job reads the kind of work and what it is of.
func (a *asker) job() {
	key, item := a.either("type", "job_type")
	kind := a.textOf(key, item)
	if kind == nil {
		a.wrong("type", ErrMissing)
		return
	}
	s := &a.out.Spec
	switch *kind {
	case "llm":
		s.JobType = a.llm()
	case "http":
		s.JobType = a.http()
	case "http_extract":
		s.JobType = a.http()
		if a.out.Terms.Extraction == nil {
			a.wrong("extraction", ErrMissing)
		}
	case "mcp":
		s.JobType = a.mcp()
	case "custom":
		s.JobType = a.custom()
	case "publish_chain_root":
		s.JobType = a.chainRoot()
	case "agent":
		s.JobType = a.agent()
	default:
		a.wrong(key, fmt.Errorf("there is no kind of job %q", *kind))
	}
}

func (a *asker) uint32(name string, otherwise uint32) uint32 {
	return uint32(a.uint(name, uint64(otherwise), 0, math.MaxUint32))
}

func (a *asker) llm() *chain.LLMJob {
	j := &chain.LLMJob{
		Prompt: a.need("prompt"), SystemPrompt: a.text("system_prompt"), Temperature: a.floatIf("temperature"),
		MaxTokens: a.uint32("max_tokens", a.out.Spec.Bounds.MaxOutputTokens), ResponseModel: a.jsonText("response_model"),
	}
	a.raw("model_id", j.ModelID[:])
	a.compare = j.ResponseModel != nil
	return j
}

func (a *asker) http() *chain.HTTPJob {
	j := &chain.HTTPJob{URL: a.need("url"), Method: "GET", Headers: a.textMap("headers"), Body: a.content("body")}
	if m := a.text("method"); m != nil {
		j.Method = *m
	}
	j.URL = a.query(j.URL)
	if item := a.take("extraction"); item != nil {
		if c := cbor.NewReader(item); isText(&c) {
			j.Extraction = a.textOf("extraction", item)
		} else {
			a.extraction(a.r.table("extraction", item))
		}
		a.compare = true
	}
	return j
}

// content is bytes, a text as its bytes, or any other value as its JSON text.
func (a *asker) content(name string) []byte {
	item := a.take(name)
	if item == nil {
		return nil
	}
	c := cbor.NewReader(item)
	if b, err := c.Bytes(MaxBytes); err == nil {
		return append([]byte{}, b...)
	}
	if s := a.jsonText(name); s != nil {
		return append([]byte{}, *s...)
	}
	return nil
}

// query puts the pairs under params behind an address, names and values escaped but for
// unreserved characters (RFC 3986 §2.3).
func (a *asker) query(url string) string {
	t := a.sub("params")
	if t == nil {
		return url
	}
	// Paid: by the bytes of the dictionary; so are the next.
	if strings.Contains(url, "#") {
		t.r.wrong("params", fmt.Errorf("the url has a fragment, behind which there is no place for them"))
	}
	joint := byte('?')
	// Paid: as above.
	if strings.Contains(url, "?") {
		joint = '&'
	}
	b := []byte(url)
	// Bounded: by maxPairs, 64.
	for i := range t.pairs {
		p := &t.pairs[i]
		p.used = true
		if c := cbor.NewReader(p.item); c.Null() {
			continue
		}
		b = append(appendEscaped(append(b, joint), p.name), '=')
		b = appendEscaped(b, t.queryValue(p))
		joint = '&'
	}
	return string(b)
}

// queryValue is a text, an integer or a truth value as a text.
func (t *table) queryValue(p *pair) string {
	c := cbor.NewReader(p.item)
	if s, err := c.Text(MaxBytes); err == nil {
		return s
	}
	if n, err := c.Uint(); err == nil {
		return strconv.FormatUint(n, 10)
	}
	if n, err := c.Int(); err == nil {
		return strconv.FormatInt(n, 10)
	}
	v, err := c.Bool()
	if err != nil {
		t.wrong(p.name, fmt.Errorf("want a text, an integer or a truth value: %w", err))
	}
	return strconv.FormatBool(v)
}

func appendEscaped(dst []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	// Paid: by the bytes of the dictionary.
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_', c == '~':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

func (a *asker) mcp() *chain.MCPJob {
	key, item := a.either("tool_name", "tool")
	tool := a.textOf(key, item)
	if tool == nil {
		a.wrong("tool_name", ErrMissing)
		tool = new(string)
	}
	j := &chain.MCPJob{Server: a.need("server"), ToolName: *tool, Arguments: a.jsonOf("arguments", chain.MaxJobBytes)}
	if j.Arguments == nil {
		j.Arguments = cbor.AppendMap(nil, 0)
	}
	if item := a.take("timeout_seconds"); item != nil {
		n := uint32(a.uintOf("timeout_seconds", item, 0, 0, math.MaxUint32))
		j.TimeoutSeconds = &n
	}
	return j
}

// custom takes params as bytes, or another value as its canonical encoding.
func (a *asker) custom() *chain.CustomJob {
	j := &chain.CustomJob{Params: []byte{}}
	if !a.raw("executor_hash", j.ExecutorHash[:]) {
		a.wrong("executor_hash", ErrMissing)
	}
	if item := a.take("params"); item != nil {
		c := cbor.NewReader(item)
		b, err := c.Bytes(MaxBytes)
		if err != nil {
			b = item
		}
		j.Params = append(j.Params, b...)
	}
	return j
}

func (a *asker) chainRoot() *chain.ChainRootJob {
	j := &chain.ChainRootJob{
		SrcChainID: a.uint("src_chain_id", 0, 0, math.MaxUint64), DstChainID: a.uint("dst_chain_id", 0, 0, math.MaxUint64),
		Height: chain.Height(a.uint("height", 0, 0, math.MaxUint64)),
	}
	if !a.raw("registry_address", j.RegistryAddress[:]) {
		a.wrong("registry_address", ErrMissing)
	}
	return j
}

// Iterations of an agent that says none.
const (
	agentIterations = 8
	agentToolCalls  = 4
)

func (a *asker) agent() *chain.AgentJob {
	return &chain.AgentJob{
		Model: a.need("model"), Query: a.need("query"), SystemPromptPath: a.text("system_prompt_path"),
		SystemPromptInline: a.text("system_prompt_inline"), SessionID: a.text("session_id"), SessionDir: a.text("session_dir"),
		MaxIterations: a.uint32("max_iterations", agentIterations), MaxToolCallsPerIter: a.uint32("max_tool_calls_per_iter", agentToolCalls),
		TimeoutSeconds: a.uint32("timeout_seconds", a.out.Spec.Bounds.MaxWallTimeSeconds),
	}
}

// extraction reads which parts of a page are the data.
func (a *asker) extraction(t *table) {
	e := &chain.Extraction{Selectors: t.textMap("selectors"), Schema: t.jsonText("schema")}
	switch m := t.need("method"); m {
	case "css_selector", "css":
		e.Method = chain.ExtractCSS
	case "xpath":
		e.Method = chain.ExtractXPath
	case "regex":
		e.Method = chain.ExtractRegex
	case "jsonpath":
		e.Method = chain.ExtractJSONPath
	default:
		t.wrong("method", fmt.Errorf("there is no method %q", m))
	}
	t.leaveNone()
	a.out.Terms.Extraction = e
}
