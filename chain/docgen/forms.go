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
}

func formsText() string {
	var rows strings.Builder
	for _, r := range refusals {
		fmt.Fprintf(&rows, "| %d | %s |\n", r.code, r.meaning)
	}
	return fmt.Sprintf(forms, chain.MaxHandlerName, chain.MaxSaltBytes, rows.String())
}
