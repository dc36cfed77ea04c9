package rpc

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// decimalDigitsMax is the length of 2^64-1.
const decimalDigitsMax = 20

var errNotDecimal = errors.New("not a decimal integer below 2^64 without sign and leading zeros")

// parseUint reads a canonical decimal: digits only, no leading zero.
func parseUint(s string) (uint64, error) {
	if s == "" || len(s) > decimalDigitsMax || (len(s) > 1 && s[0] == '0') {
		return 0, errNotDecimal
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, errNotDecimal
		}
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, errNotDecimal
	}
	return v, nil
}

// decodeHex fills dst from exactly its length of hex in either case, with or
// without 0x.
func decodeHex(dst []byte, s string) bool {
	s = strings.TrimPrefix(s, "0x")
	if len(s) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, []byte(s))
	return err == nil
}

func parseHash(s string) (chain.Hash, error) {
	var h chain.Hash
	if !decodeHex(h[:], s) {
		return h, badRequest(CodeBadHash, "%q is not a hash: give 32 bytes as 64 hex digits, with or without 0x", clip(s))
	}
	return h, nil
}

func parseAddress(s string) (chain.Address, error) {
	var a chain.Address
	if !decodeHex(a[:], s) {
		return a, badRequest(CodeBadAddress, "%q is not an address: give 20 bytes as 40 hex digits, with or without 0x", clip(s))
	}
	return a, nil
}

// queryUint reads an optional number from the query. A value given twice or
// not canonical is refused.
func queryUint(q url.Values, name string, fallback uint64) (uint64, error) {
	values, ok := q[name]
	if !ok {
		return fallback, nil
	}
	if len(values) != 1 {
		return 0, badRequest(CodeBadNumber, "%s is given %d times: give it once", name, len(values))
	}
	v, err := parseUint(values[0])
	if err != nil {
		return 0, badRequest(CodeBadNumber, "%s=%q is %v", name, clip(values[0]), err)
	}
	return v, nil
}

// parseQuery is r.URL.Query with malformed pairs refused instead of dropped.
func parseQuery(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest(CodeBadRequest, "the query string is malformed: percent-encode its values")
	}
	return q, nil
}

// timeoutParam reads timeout_ms, or timeout as other clients of the public API
// call it, within the configured range.
func (s *Server) timeoutParam(r *http.Request) (time.Duration, error) {
	q, err := parseQuery(r)
	if err != nil {
		return 0, err
	}
	low, high := uint64(s.cfg.WaitMin.Milliseconds()), uint64(s.cfg.WaitMax.Milliseconds())
	name := "timeout_ms"
	if _, ok := q["timeout"]; ok {
		if _, both := q[name]; both {
			return 0, badRequest(CodeBadNumber, "timeout and timeout_ms are the same: give one")
		}
		name = "timeout"
	}
	ms, err := queryUint(q, name, high)
	if err != nil {
		return 0, err
	}
	if ms < low || ms > high {
		return 0, badRequest(CodeBadNumber, "%s=%d is out of range: give %d to %d milliseconds", name, ms, low, high)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// readBody reads a whole body of at most maxBytes.
func readBody(w http.ResponseWriter, r *http.Request, maxBytes int64) ([]byte, error) {
	if r.ContentLength > maxBytes {
		return nil, tooLarge(maxBytes)
	}
	if held, ok := r.Body.(*bodyInMemory); ok {
		if int64(len(held.all)) > maxBytes {
			return nil, tooLarge(maxBytes)
		}
		return held.all, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge(maxBytes)
	case err != nil:
		return nil, badRequest(CodeBadRequest, "the body ended early: send as many bytes as announced")
	}
	return body, nil
}

func tooLarge(maxBytes int64) error {
	return refuse(http.StatusRequestEntityTooLarge, CodeBodyTooLarge,
		"the body is above %d bytes: split it into several requests", maxBytes)
}

// smallBodyBytesMax bounds the JSON bodies, all of which are one flat object.
const smallBodyBytesMax = 4 << 10

// readJSON decodes a body that is one JSON object with known fields only.
func (s *Server) readJSON(w http.ResponseWriter, r *http.Request, into any) error {
	return s.readJSONOf(w, r, smallBodyBytesMax, into)
}

// readJSONOf is readJSON of a body of at most maxBytes.
func (s *Server) readJSONOf(w http.ResponseWriter, r *http.Request, maxBytes int64, into any) error {
	if err := checkContentType(r, "application/json", "application/x-www-form-urlencoded"); err != nil {
		return err
	}
	body, err := readBody(w, r, min(maxBytes, s.cfg.BodyBytesMax))
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return badRequest(CodeBadJSON, "the body is not the expected JSON object: %s", clip(err.Error()))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badRequest(CodeBadJSON, "the body goes on after the JSON object: send one object")
	}
	return nil
}

// checkContentType accepts no content type or one of allowed. The form type is
// what curl -d sends unasked.
func checkContentType(r *http.Request, allowed ...string) error {
	got := r.Header.Get("Content-Type")
	media, _, _ := strings.Cut(got, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if media == "" {
		return nil
	}
	for _, a := range allowed {
		if media == a {
			return nil
		}
	}
	return refuse(http.StatusUnsupportedMediaType, CodeContentType,
		"content type %q is not served here: send %s", clip(got), allowed[0])
}

// clip shortens outside text so that no answer or log line grows with it.
func clip(s string) string {
	const clipBytes = 80
	if len(s) <= clipBytes {
		return s
	}
	return strings.ToValidUTF8(s[:clipBytes], "") + "…"
}
