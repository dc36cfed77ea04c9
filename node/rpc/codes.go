package rpc

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the stable number of an error or of a verdict on a transaction. The
// numbers never change meaning; new ones are added.
//
//	1xxx  the request is wrong: do not repeat it unchanged
//	2xxx  there is no such thing, now or at all
//	3xxx  too much or too early: the same request may succeed later
//	4xxx  the verdict on one transaction
//	5xxx  the node failed
type Code int

// CodeOK is the code of an accepted transaction. No error carries it.
const CodeOK Code = 0

// The request is wrong.
const (
	CodeBadRequest       Code = 1000 // malformed in a way no other code names
	CodeBadAddress       Code = 1001 // not 20 bytes of hex
	CodeBadHash          Code = 1002 // not 32 bytes of hex
	CodeBadNumber        Code = 1003 // not a canonical decimal, or out of range
	CodeBadJSON          Code = 1004 // body is not the expected JSON object
	CodeBadSubmission    Code = 1005 // body is not 1 to 50 wire transactions (resolution 11.12)
	CodeBodyTooLarge     Code = 1006
	CodeContentType      Code = 1007
	CodeMethodNotAllowed Code = 1008
	CodeDevnetOnly       Code = 1009
	CodeBadSlot          Code = 1010 // not a storage key in hex
	CodeForeignHost      Code = 1011 // the Host header names another server (DNS rebinding)
	CodeForeignOrigin    Code = 1012 // a browser sends this for a page of another origin (CSRF)
	CodeBadPayload       Code = 1013 // neither hex nor the JSON of a value
)

// There is no such thing.
const (
	CodeUnknownPath        Code = 2000
	CodeUnknownBlock       Code = 2001
	CodeUnknownTransaction Code = 2002
	CodeReceiptPending     Code = 2003 // the transaction is known but not final
	CodeUnknownAccount     Code = 2004
	CodeNotInPool          Code = 2005
	CodeNoHistory          Code = 2006 // this node does not keep the state of that height
	CodeStorageMoved       Code = 2008 // the storage changed between two pages
	CodeUnprovable         Code = 2007 // the proof would be above what a client accepts
	CodeUnknownActor       Code = 2010 // no account there, or one without code
	CodeUnknownToken       Code = 2011
	CodeUnknownEntitlement Code = 2012
	CodeUnknownRunner      Code = 2013
	CodeUnknownJob         Code = 2014
	CodeNoCandidate        Code = 2015 // the runner could not be drawn for the job
	CodeCandidatesGone     Code = 2016 // nobody is drawn for the job any more, and the state of its submission is not kept
	CodeNotKept            Code = 2009 // this node began with a later state: ask an older one
	CodePollDisabled       Code = 2017 // the chain has decided that runners are told of their work by the link alone
)

// Too much or too early.
const (
	CodeRateLimited Code = 3000
	CodeBusy        Code = 3001 // queues or request slots are full
	CodeNotReady    Code = 3002 // starting, stopping or behind
	CodeDeadline    Code = 3003 // the answer took longer than a request may
	CodeFaucetLimit Code = 3004
	CodeSubscribers Code = 3005 // all event streams are taken
	CodeShare       Code = 3006 // this client address holds its share of what is asked for
	CodeOwed        Code = 3007 // the client owes for bytes that its requests have read
)

// Verdicts on a transaction. The node maps the errors of decoding, signature
// recovery and admission to them.
const (
	CodeTxMalformed      Code = 4000 // not the canonical encoding of a transaction
	CodeTxTooLarge       Code = 4001
	CodeTxSignature      Code = 4002 // missing, out of range, high s or not recoverable
	CodeTxChainID        Code = 4003
	CodeTxKnown          Code = 4004 // already in the pool or in a block, final or not
	CodeNonceTooLow      Code = 4005
	CodeNonceTooHigh     Code = 4006
	CodeInsufficient     Code = 4007 // spendable balance below value plus the most the fees can be
	CodeFeeTooLow        Code = 4008
	CodeLimitTooHigh     Code = 4009 // above max_tx_cycles or max_tx_cells (resolution 11.33)
	CodeLimitTooLow      Code = 4010 // below the intrinsic cost
	CodeReplacement      Code = 4011 // replaces another without raising its fees enough
	CodeSenderLimit      Code = 4012 // too many transactions of one sender are waiting
	CodeTxNotAllowed     Code = 4013 // this sender may not use this lane or instruction (resolution 11.13)
	CodeTxUnsupported    Code = 4014 // an instruction this version refuses
	CodeTxRejected       Code = 4015 // refused for a reason no other code names
	CodeActorBusy        Code = 4016 // the cycles limit is above what the actor may use in the next block
	CodeTxAmountOverflow Code = 4017 // value plus fees exceed 64 bits
	CodeTxSender         Code = 4018 // the sender is another than the path names
	CodeTxInstruction    Code = 4019 // the path takes other instructions
)

// The node failed.
const (
	CodeInternal Code = 5000
	CodeDefect   Code = 5001 // a defect of the program, on this request alone; the log has its stack
)

// Errors a [Source] returns for the server to answer with 503.
var (
	// ErrBusy means that a queue is full. The caller may try again at once.
	ErrBusy = errors.New("node is busy")
	// ErrNotReady means that the node is starting or stopping.
	ErrNotReady = errors.New("node is not ready")
)

// Refusal is an error that the server answers with its own status and code. A
// [Source] returns one where [ErrBusy] and [ErrNotReady] say too little, for
// example from Faucet.
type Refusal struct {
	Status  int // HTTP status
	Code    Code
	Message string        // says what to do
	After   time.Duration // when to ask again, where that is known
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

func refuse(status int, code Code, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func badRequest(code Code, format string, args ...any) *Refusal {
	return refuse(http.StatusBadRequest, code, format, args...)
}

func notFound(code Code, format string, args ...any) *Refusal {
	return refuse(http.StatusNotFound, code, format, args...)
}
