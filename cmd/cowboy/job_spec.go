package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	asking "github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
)

// readJob reads a job from a file. What it does not say is as the chain has it.
func readJob(ctx context.Context, s *session, name string) (*asking.Asked, error) {
	document, err := readJobFile(s, name)
	if err != nil {
		return nil, err
	}
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	g, err := api.Governance(ctx)
	if err != nil {
		return nil, err
	}
	p := params.Default()
	if err := json.Unmarshal(g.Params, &p); err != nil {
		return nil, fmt.Errorf("parameters of the chain: %w", err)
	}
	asked, err := parseJob(document, &p)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	return asked, nil
}

// jobFileMax bounds a job's file: JSON that escapes every byte of the largest job.
const jobFileMax = 6 * asking.MaxBytes

func readJobFile(s *session, name string) ([]byte, error) {
	in := s.world.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	document, err := io.ReadAll(io.LimitReader(in, jobFileMax+1))
	if err == nil && len(document) > jobFileMax {
		err = usagef("%s has more than %d bytes", name, jobFileMax)
	}
	return document, err
}

// parseJob reads a job out of JSON, as the dictionary that an actor gives submit_job, or
// with its fields as the tools of other networks write them.
func parseJob(document []byte, p *params.Params) (*asking.Asked, error) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var dict map[string]any
	if err := dec.Decode(&dict); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text behind the JSON object")
	}
	if job, ok := dict["job_type"].(map[string]any); ok {
		if err := flatten(dict, job); err != nil {
			return nil, err
		}
		rewritten, err := json.Marshal(dict)
		if err != nil {
			return nil, err
		}
		document = rewritten
	}
	encoded, err := pyvalue.Encode(document)
	if err != nil {
		return nil, err
	}
	asked, err := asking.Read(encoded, &asking.Caller{}, p)
	if err != nil {
		return nil, err
	}
	if cb := &asked.Spec.Callback; cb.Handler != "" && cb.Actor == (chain.Address{}) {
		return nil, fmt.Errorf("reply_to: it is missing, and an account has no handler %q", cb.Handler)
	}
	return asked, nil
}

// flatten turns a job with fields of their own for its type and its callback into a
// dictionary. job_id, submitter and submitted_at are the chain's to fill in.
func flatten(dict, job map[string]any) error {
	for _, name := range []string{"job_id", "submitter", "submitted_at", "job_type"} {
		delete(dict, name)
	}
	for name, value := range job {
		if _, twice := dict[name]; twice {
			return fmt.Errorf("%s: it is said twice, in job_type and beside it", name)
		}
		dict[name] = hexIfBytes(value)
	}
	kind, _ := dict["type"].(string)
	dict["type"] = snake(kind)
	if v, ok := dict["verification"].(map[string]any); ok {
		if mode, ok := v["mode"].(string); ok {
			v["mode"] = snake(mode)
		}
	}
	cb, ok := dict["callback"].(map[string]any)
	if !ok {
		return nil
	}
	delete(dict, "callback")
	actor, _ := hexIfBytes(cb["actor"]).(string)
	if strings.Trim(actor, "0x") == "" {
		return nil // nobody is told
	}
	if !blank(cb["payload"]) {
		return fmt.Errorf("callback.payload: the chain makes the payload; what comes back with it is context")
	}
	dict["reply_to"], dict["reply_handler"] = actor, cb["handler"]
	for _, name := range []string{"correlation_id", "context"} {
		if !blank(cb[name]) {
			dict[name] = cb[name]
		}
	}
	return nil
}

func blank(value any) bool {
	list, isList := value.([]any)
	return value == nil || value == "" || isList && len(list) == 0
}

// hexIfBytes turns an address or a hash that is written as a list of numbers into hex.
func hexIfBytes(value any) any {
	list, ok := value.([]any)
	if !ok || len(list) != 20 && len(list) != 32 {
		return value
	}
	var b []byte
	for _, item := range list {
		number, _ := item.(json.Number)
		n, err := number.Int64()
		if err != nil || n < 0 || n > 255 {
			return value
		}
		b = append(b, byte(n))
	}
	return "0x" + hex.EncodeToString(b)
}

// severalWords are names of several words, which are written with and without what parts them.
var severalWords = []string{
	"publish_chain_root", "http_extract", "economic_bond", "majority_vote", "structured_match", "semantic_similarity",
}

// snake is a name in small letters, its words parted by _: of MajorityVote, majority_vote.
func snake(name string) string {
	squashed := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, w := range severalWords {
		if strings.ReplaceAll(w, "_", "") == squashed {
			return w
		}
	}
	return strings.ToLower(name)
}
