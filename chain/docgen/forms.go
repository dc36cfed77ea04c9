package main

import (
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
)

// forms tells the encodings that the tables above it name. That it says what the
// code does is held by the tests of the packages that own each part.
const forms = `
## Types of arguments

All of them are items of the encoding that the body has too: deterministic CBOR (RFC 8949 §4.2.1), lengths
definite, integers in their shortest form, maps in the order of their encoded keys, texts in UTF-8, no tags; a body
has at most 32 levels of arrays and maps.

| type | item |
|---|---|
| uint | unsigned integer of 64 bits |
| bool | false or true |
| text | text string, UTF-8 |
| bytes | byte string |
| address | byte string of 20; a reserved one is its number, big-endian |
| hash | byte string of 32 |
| amount | 0 to 2^128 - 1: an unsigned integer, or beyond 64 bits a byte string of 9 to 16, big-endian, without leading zeros |
| handler | text of at most %d bytes |
| salt | byte string of at most %d |
| message | array [handler, argument]: the argument is a byte string with the encoding of a value, below |
| list, map | array, map: what is in it is judged when the instruction runs |
| any | any item, likewise |

## Values of handlers

The argument of a message is a byte string that holds one value of Python, encoded as above, and

| Python | item |
|---|---|
| None, False, True | null, false, true |
| int | integer; beyond 64 bits tag 2 or 3 over its big-endian bytes |
| float | 64 bits wide; the one NaN is 7ff8000000000000 |
| str | text, in NFC |
| bytes, bytearray | byte string |
| list, tuple | array; it comes back as a list |
| dict | map; no two keys may be equal in Python (1 and 1.0) |
| set, frozenset | tag 258 over an array in the order of map keys |
| object | tag 27 over [name of its class, what __cowboy_serialize__ answered] |

The handler finds it as the payload of its message ([sdk.md](sdk.md)); null stands for none. Amounts are base
units: 10^9 are one CBY.

## The sender

The public key is recovered from the signature over keccak256 of the body with a null signature, on
secp256k1; the address is the last 20 bytes of keccak256 of its 64 bytes x ‖ y. y_parity is 0 or 1, s at
most half of the order.

## Manifest and address of an actor

The manifest of a deployment is the map {"entitlements": list}, the list in ascending order of id, each
{"id": text} or {"id": text, "params": map}. A parameter is a uint, a text, a list of texts or a list of
addresses; a parameter that is left out is no limit.

| id | parameters |
|---|---|
| accel.gpu | min_vram_gb uint |
| bridge.asset | allowlist_assets texts |
| bridge.subscribe_event | allowlist_contracts addresses |
| econ.hold_balance | |
| econ.transfer | max_amount uint, max_per_block uint |
| exec.spawn | max_children uint |
| http.fetch | allowlist_domains texts, domain_set text (at least one of the two), max_requests uint |
| oracle.llm | max_tokens uint, max_requests uint |
| sec.data_residency | region text |
| sec.tee_required | tee_type text |
| storage.blob | max_bytes uint |
| storage.kv | max_bytes uint |
| sys.upgrade | |
| timer.schedule | max_timers uint |

The actor's address is known before it is deployed: the last 20 bytes of

    keccak256(creator ‖ salt ‖ keccak256(source))

with the creator's 20 bytes, the salt as it stands in the payload, and the source as UTF-8.

## Objects of the runner market

Each is a map whose keys are exactly the numbers given here, in ascending order; ? may be null. What is a set
(models, kinds, regions, domains) is a list in strictly ascending order. The fields of a kind or a check follow its
number, which is key 0.

| object | keys |
|---|---|
| rate card | 0 llm_input_token, 1 llm_output_token, 2 http_request_base, 3 compute_second, 4 memory_mb, 5 supported_models, 6 min_job_value, 7 max_job_value |
| capabilities | 0 job_types, 1 tee_support?, 2 regions, 3 http_domains, 4 max_concurrent_jobs |
| spec | 0 job_id, 1 job_type, 2 bounds, 3 verification, 4 max_price, 5 tip, 6 timeout_blocks, 7 callback, 8 submitter, 9 submitted_at, 10 required_runner_pool?, 11 attachments?; 0 and 9 are zero, 8 is the sender or zero |
| job_type | 0: 0 llm, 1 http, 2 mcp, 3 custom, 4 publish_chain_root, 5 agent, each with the fields of CIP-11 §12.6 |
| bounds | 0 max_input_tokens, 1 max_output_tokens, 2 max_wall_time_seconds, 3 max_memory_mb, 4 max_retries |
| verification | 0 mode, 1 runners, 2 threshold, 3 checks, 4 tee_required, 5 dispute_window_blocks, 6 required_tee_type? |
| mode | 0 none, 1 economic_bond, 2 majority_vote, 3 structured_match, 4 deterministic, 5 semantic_similarity |
| a check | 0: 0 majority_vote, 1 json_schema_valid, 2 structured_match, 3 numeric_tolerance, 4 numeric_range, 5 custom, 6 dns_txt_record_match, 7 dns_cname_match, each with the fields of CIP-11 §12.6 |
| callback | 0 actor, 1 handler, 2 payload?, 3 correlation_id, 4 context |
| terms | 0 version, 1 result_schema, 2 toolchain_digest, 3 seed, 4 snapshot?, 5 freshness_reference?, 6 extraction?, 7 bond_multiplier_e6?, 8 objective_checks, 9 named_checks, 10 similarity?, 11 secret_ref?, 12 inference_config?, 13 callback_cycles, 14 verifier_cycles, 15 judge_steps, 16 vote_field?; the version is 1 |
| result_schema | 0 max_return_bytes, 1 expected_execution_ms, 2 data_format, 3 schema?; the format is "text", "json" or "bytes" |
| snapshot | 0: 0 first_valid, 1 median, 2 majority, 3 latest; 1 outlier_e6 |
| freshness_reference | 0: 0 block, 1 submission, 2 absolute; 1 timestamp_ms, 2 tolerance_ms |
| extraction | 0: 0 css, 1 xpath, 2 regex, 3 jsonpath; 1 selectors (map of texts), 2 schema? |
| an objective check | 0: 0 schema_valid, 1 min_length (1 bytes), 2 entropy (1 min_millibits), 3 no_prompt_leak, 4 model |
| a named check | 0: 0 exact_match, 1 supermajority_vote (1 field, 2 threshold_e6), 2 set_equality (1 field), 3 contains_all (1 substrings), 4 contains_none (1 substrings), 5 regex_match (1 pattern), 6 length_bounds (1 min, 2 max), 7 semantic_similarity (1 threshold_e6), 8 no_prompt_leak, 9 entropy_check (1 min_millibits) |
| similarity | 0 threshold_e6, 1 embedding_model |
| result | 0 version, 1 attempt, 2 outcome, 3 data, 4 usage, 5 timestamp_ms, 6 tee?, 7 source?, 8 embedding?, 9 detail?; the version is 1, and the detail [done, total, text] stands beside every outcome but ok |
| outcome | 0 ok, 1 impossible, 2 actor_fault, 3 external_fault |
| usage | 0 input_tokens, 1 output_tokens, 2 wall_ms, 3 memory_mb, 4 requests |
| source | 0 url, 1 status, 2 response_hash, 3 tls_fingerprint, 4 headers, 5 data_timestamp_ms |

An attestation is a map with the text keys runner_id, signature, valid_from, valid_until, capabilities and, where there
is evidence, evidence_hash; capabilities is a list of grants as in a manifest. The runner signs keccak256 of the map
without its signature, in 65 bytes r ‖ s ‖ v. For a result it signs

    keccak256("cowboy-result-v1" ‖ chain_id ‖ job_id ‖ result)

with the chain id in eight big-endian bytes, and commits to keccak256(result ‖ signature). The id of a job is
sha256(hash of its transaction ‖ height of its block in eight big-endian bytes); of an actor's job keccak256(actor ‖
its number ‖ height), both in eight.

## Codes of submissions that are refused

` + "`POST /submit`" + ` answers one of these for each transaction. Nothing is charged, and no block holds it.

| code | meaning |
|---|---|
%s
3001 (the lane is full) and 3002 (the node starts or stops) say: again later.
`

// refusals are the verdicts of a node on a submission, as node/rpc numbers them.
var refusals = []struct {
	code    int
	meaning string
}{
	{0, "taken"},
	{4000, "not the encoding of a transaction, or a payload that its kind does not have"},
	{4001, "larger than max_tx_bytes"},
	{4002, "no signature, one out of range, a high s, or one that no key gives"},
	{4003, "of another chain"},
	{4004, "in the pool or in a block already"},
	{4005, "its nonce is used"},
	{4006, "its nonce is too far above the account's"},
	{4007, "the balance that may be spent does not cover the value and the most the fees can be"},
	{4008, "a maximum fee below the lowest base fee"},
	{4009, "a limit above max_tx_cycles or max_tx_cells"},
	{4010, "a limit below what its kind costs at least"},
	{4011, "replaces another of the same nonce without raising its fees enough"},
	{4012, "too many transactions of this sender wait"},
	{4013, "this sender may not use the instruction, or the address takes no transfers"},
	{4014, "an instruction that there is not, or that this chain does not run"},
	{4015, "refused for another reason, which the message says"},
	{4016, "its cycles limit is above what the actor may use in the next block"},
	{4017, "value and fees exceed 64 bits"},
	{4018, "sent to the path of another runner than has signed"},
	{4019, "sent to a runner's path that takes other instructions"},
}

func formsText() string {
	var rows strings.Builder
	for _, r := range refusals {
		fmt.Fprintf(&rows, "| %d | %s |\n", r.code, r.meaning)
	}
	return fmt.Sprintf(forms, chain.MaxHandlerName, chain.MaxSaltBytes, rows.String())
}
