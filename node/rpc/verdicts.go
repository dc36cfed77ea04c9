package rpc

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
)

// VerdictsMedia is the media type of the binary answer to POST /submit, which whoever
// names it in Accept gets in place of JSON. It says the same:
//
//	answer = 1 (u8) ‖ hashes (u8, 0 or 1) ‖ n (u16) ‖ n × item
//	item   = code (u16) ‖ hash (32 bytes, if hashes is 1) ‖ message (unless code is 0)
//	message = length (u16) ‖ UTF-8
//
// Numbers are big-endian. There is one encoding of each answer. An answer that refuses the
// whole request is JSON, as everywhere: the status and the content type tell them apart.
const VerdictsMedia = "application/vnd.cowboy.verdicts"

const (
	verdictsVersion   = 1
	verdictsHeadBytes = 4
	verdictsMax       = 1<<16 - 1 // items of one answer
	// verdictMessageBytes bounds the message of one verdict, in both answers.
	verdictMessageBytes = 1 << 10
)

// ErrVerdicts means bytes that are no binary answer to a submission.
var ErrVerdicts = errors.New("not a list of verdicts")

// VerdictsError says what is wrong with one. It matches [ErrVerdicts].
type VerdictsError struct {
	Item   int // at which it goes wrong, -1 before the first
	Reason string
}

func (e *VerdictsError) Error() string {
	if e.Item < 0 {
		return fmt.Sprintf("%v: %s", ErrVerdicts, e.Reason)
	}
	return fmt.Sprintf("%v: item %d: %s", ErrVerdicts, e.Item, e.Reason)
}

// Unwrap makes the error match ErrVerdicts.
func (e *VerdictsError) Unwrap() error { return ErrVerdicts }

// said is the message as both answers have it: valid UTF-8 of a bounded length, and nothing
// to say of what was accepted.
func (v *Verdict) said() string {
	if v.Code == CodeOK {
		return ""
	}
	return strings.ToValidUTF8(v.Message[:min(len(v.Message), verdictMessageBytes)], "")
}

// AppendVerdicts appends the binary answer: at most 65,535 verdicts, with or without their
// hashes.
func AppendVerdicts(dst []byte, verdicts []Verdict, hashes bool) []byte {
	flag := byte(0)
	if hashes {
		flag = 1
	}
	dst = binary.BigEndian.AppendUint16(append(dst, verdictsVersion, flag), uint16(len(verdicts)))
	for i := range verdicts {
		v := &verdicts[i]
		dst = binary.BigEndian.AppendUint16(dst, uint16(v.Code))
		if hashes {
			dst = append(dst, v.Hash[:]...)
		}
		if v.Code != CodeOK {
			message := v.said()
			dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(message))), message...)
		}
	}
	return dst
}

// DecodeVerdicts reads a binary answer and appends its verdicts, at most most of them, to
// into. hashes says whether they have theirs. Whatever it accepts, AppendVerdicts gives back
// byte for byte. The error is a [*VerdictsError].
func DecodeVerdicts(into []Verdict, b []byte, most int) (_ []Verdict, hashes bool, err error) {
	if len(b) < verdictsHeadBytes || b[0] != verdictsVersion || b[1] > 1 {
		return nil, false, &VerdictsError{-1, "no head of version 1"}
	}
	hashes = b[1] == 1
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n > most {
		return nil, false, &VerdictsError{-1, fmt.Sprintf("%d verdicts, at most %d are expected", n, most)}
	}
	b = b[verdictsHeadBytes:]
	for i := range n {
		var v Verdict
		if v, b, err = readVerdict(b, hashes); err != nil {
			return nil, false, &VerdictsError{i, err.Error()}
		}
		into = append(into, v)
	}
	if len(b) > 0 {
		return nil, false, &VerdictsError{n, fmt.Sprintf("%d bytes behind the last verdict", len(b))}
	}
	return into, hashes, nil
}

var errVerdictEnds = errors.New("the bytes end inside of it")

// readVerdict reads one item.
func readVerdict(b []byte, hashes bool) (v Verdict, rest []byte, err error) {
	fixed := 2
	if hashes {
		fixed += len(v.Hash)
	}
	if len(b) < fixed {
		return v, nil, errVerdictEnds
	}
	v.Code = Code(binary.BigEndian.Uint16(b))
	if hashes {
		copy(v.Hash[:], b[2:])
	}
	if b = b[fixed:]; v.Code == CodeOK {
		return v, b, nil
	}
	if len(b) < 2 {
		return v, nil, errVerdictEnds
	}
	n := int(binary.BigEndian.Uint16(b))
	switch b = b[2:]; {
	case n > verdictMessageBytes:
		return v, nil, fmt.Errorf("a message of %d bytes, at most %d are sent", n, verdictMessageBytes)
	case n > len(b):
		return v, nil, errVerdictEnds
	case !utf8.Valid(b[:n]):
		return v, nil, errors.New("the message is no UTF-8")
	}
	v.Message = string(b[:n])
	return v, b[n:], nil
}

// wantsVerdicts reports whether a client asks for the binary answer: it names the media
// type in Accept, with a weight above 0 if any. Wildcards, no header and what cannot be read
// get JSON, which everybody had before.
func wantsVerdicts(h http.Header) bool {
	for _, line := range h.Values("Accept") {
		for more := true; more; {
			var item string
			item, line, more = strings.Cut(line, ",")
			media, parameters, _ := strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(media), VerdictsMedia) {
				return isWeighed(parameters)
			}
		}
	}
	return false
}

// isWeighed reports whether the parameters of a media type have no q, or one above 0.
func isWeighed(parameters string) bool {
	for more := true; more; {
		var one string
		one, parameters, more = strings.Cut(parameters, ";")
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			return err == nil && q > 0 && q <= 1
		}
	}
	return true
}

// hashesParam is ?hashes=: whether an answer has the hashes of the transactions. 1 is the
// default.
func hashesParam(r *http.Request) (bool, error) {
	if r.URL.RawQuery == "" {
		return true, nil
	}
	n, err := queryUint(r.URL.Query(), "hashes", 1)
	if err != nil || n > 1 {
		return false, badRequest(CodeBadNumber, "hashes is 0, for an answer without them, or 1")
	}
	return n == 1, nil
}

// jsonVerdictBytes is what an accepted transaction takes in the JSON answer at most, and
// binaryVerdictBytes in the binary one.
const (
	jsonVerdictBytes   = 128
	binaryVerdictBytes = 2 + len(chain.Hash{})
)

// appendVerdictsJSON appends the JSON answer, which is that of encoding/json for a
// [SubmitReply], and a newline.
func appendVerdictsJSON(dst []byte, verdicts []Verdict, hashes bool) []byte {
	dst = append(dst, `{"results":[`...)
	for i := range verdicts {
		v := &verdicts[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if hashes {
			dst = hex.AppendEncode(append(dst, `"tx_hash":"0x`...), v.Hash[:])
			dst = append(dst, `",`...)
		}
		dst = strconv.AppendBool(append(dst, `"accepted":`...), v.Code == CodeOK)
		dst = strconv.AppendInt(append(dst, `,"code":`...), int64(v.Code), 10)
		dst = appendJSONText(append(dst, `,"message":`...), v.said())
		dst = append(dst, '}')
	}
	return append(dst, "]}\n"...)
}

// appendJSONText appends a string as JSON has it.
func appendJSONText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			var text strings.Builder
			enc := json.NewEncoder(&text)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(s); err != nil {
				panic(fmt.Sprintf("rpc: encode a string: %v", err)) // strings always encode
			}
			return append(dst, strings.TrimSuffix(text.String(), "\n")...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
