package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

// Config bounds the server. All limits are this node's own, none is part of
// the protocol.
type Config struct {
	Addr     string               // host:port to listen on, ignored if Listener is set
	Listener net.Listener         // or an open listener, closed by Run
	Hosts    []string             // names, besides localhost, under which a server on loopback is called: those that a proxy passes on
	Devnet   bool                 // serve /faucet and /dev/advance
	Genesis  *genesis.Genesis     // GET /genesis and /params; nil answers 404
	Metrics  http.Handler         // GET /metrics; nil answers 404
	Log      *slog.Logger         // nil discards
	Explain  func(error) *Refusal // what a client is told of a fault that is logged already, nil for no more than that there is one; nil for never
	Starting func() string        // why there are no answers yet but those of open routes, empty once there are; nil for never

	BodyBytesMax   int64 // any body
	SubmitBytesMax int64 // body of /submit and /submit_wait
	SubmitTxsMax   int   // transactions of one submission (resolution 11.12)
	HeaderBytesMax int   // request line and headers
	ListMax        uint64
	ListDefault    uint64

	HeaderTimeout  time.Duration // reading a request's headers
	ReadTimeout    time.Duration // reading a whole request
	WriteTimeout   time.Duration // writing an answer, counted from the end of the headers
	IdleTimeout    time.Duration // between requests of a connection
	RequestTimeout time.Duration // work on a request; must be above WaitMax
	StopTimeout    time.Duration // finishing requests after Run's context ends

	// ClientShare is how much one client (an IPv4 address, an IPv6 /48) may hold of what
	// others leave of each of the limits below, in percent; 100 where all clients have one address, as on a devnet.
	ClientShare int
	// Proxies are the addresses whose X-Forwarded-For is believed: it names the
	// client that the limits count. None unless an operator says so.
	Proxies []netip.Prefix

	ConnsMax          int   // open connections; beyond, the longest idle one is closed
	BodiesBytesMax    int64 // of bodies that are being read or worked on, beyond: 503
	AnswersBytesMax   int64 // of answers above 64 KiB that clients read, beyond: 503
	ListBytesMax      int64 // of stored blocks that one list reads; it ends behind them
	InFlightMax       int   // requests at work at once, beyond: 503
	WaitsMax          int   // of /submit_wait at once, beyond: 503
	ProofsMax         int   // proofs and exports at work at once, beyond: 503
	ProofKeysMax      int   // accounts and slots of one multi-proof
	TrialsMax         int   // calls that only read and estimates at once, beyond: 503
	ExportsMax        int   // pages of storage at work at once, beyond: 503
	ExportEntriesMax  int   // storage values of one page
	ExportBytesMax    int   // keys and values of one page; a whole storage of the highest quota fits
	RequestsPerSecond int   // per client address, beyond: 429; 0 lifts the limit
	ClientsMax        int   // client addresses remembered for the rate limit, and as many networks
	// DebtMax is what one request may come to owe beyond its client's rate, as time of the
	// rate. While the client owes it gets nothing, and one request at a time may begin to.
	DebtMax time.Duration
	// ValueBytesMax is how many bytes of values, as JSON, one answer shows.
	ValueBytesMax int

	WaitMin, WaitMax time.Duration // range of timeout_ms

	SubscribersMax  int           // event streams at once, beyond: 503
	SubscriberDepth int           // blocks queued for a slow one before it is dropped
	ResumeBlocksMax uint64        // stored blocks sent to one that resumes
	Heartbeat       time.Duration // comment line on a silent stream
	EventTimeout    time.Duration // writing one event

	FaucetPerMinute  int    // per client address; 0 lifts the limit
	AdvanceBlocksMax uint64 // of one /dev/advance
	AdvanceTimeout   time.Duration
}

// DefaultConfig returns the limits that a public node uses, listening on
// loopback.
func DefaultConfig() Config {
	return Config{
		Addr:           "127.0.0.1:4000",
		BodyBytesMax:   1 << 20,
		SubmitBytesMax: 512 << 10,
		SubmitTxsMax:   50,
		HeaderBytesMax: 16 << 10,
		ListMax:        1000,
		ListDefault:    50,

		HeaderTimeout:  5 * time.Second,
		ReadTimeout:    15 * time.Second,
		WriteTimeout:   30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		RequestTimeout: 15 * time.Second,
		StopTimeout:    3 * time.Second,

		ClientShare:       25,
		ConnsMax:          1024,
		BodiesBytesMax:    64 << 20,
		AnswersBytesMax:   256 << 20,
		ListBytesMax:      64 << 20,
		InFlightMax:       256,
		WaitsMax:          256,
		ProofsMax:         16, // each holds a block or its tries in memory
		ProofKeysMax:      256,
		TrialsMax:         32,
		ExportsMax:        4, // each may take five times ExportBytesMax
		ExportEntriesMax:  100_000,
		ExportBytesMax:    8 << 20, // whitepaper §7.3: quotas end there
		RequestsPerSecond: 100,
		ClientsMax:        4096,
		DebtMax:           time.Minute,
		ValueBytesMax:     1 << 20,

		WaitMin: 100 * time.Millisecond,
		WaitMax: 10 * time.Second,

		SubscribersMax:  64,
		SubscriberDepth: 64,
		ResumeBlocksMax: 1000,
		Heartbeat:       15 * time.Second,
		EventTimeout:    10 * time.Second,

		FaucetPerMinute:  5,
		AdvanceBlocksMax: 10_000,
		AdvanceTimeout:   2 * time.Minute,
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	positive := []struct {
		name  string
		value int64
	}{
		{"BodyBytesMax", c.BodyBytesMax},
		{"SubmitBytesMax", c.SubmitBytesMax},
		{"SubmitTxsMax", int64(c.SubmitTxsMax)},
		{"HeaderBytesMax", int64(c.HeaderBytesMax)},
		{"ListDefault", int64(c.ListDefault)},
		{"HeaderTimeout", int64(c.HeaderTimeout)},
		{"ReadTimeout", int64(c.ReadTimeout)},
		{"WriteTimeout", int64(c.WriteTimeout)},
		{"IdleTimeout", int64(c.IdleTimeout)},
		{"StopTimeout", int64(c.StopTimeout)},
		{"ConnsMax", int64(c.ConnsMax)},
		{"ClientShare", int64(c.ClientShare)},
		{"BodiesBytesMax", c.BodiesBytesMax},
		{"AnswersBytesMax", c.AnswersBytesMax},
		{"ListBytesMax", c.ListBytesMax},
		{"InFlightMax", int64(c.InFlightMax)},
		{"WaitsMax", int64(c.WaitsMax)},
		{"ProofsMax", int64(c.ProofsMax)},
		{"ProofKeysMax", int64(c.ProofKeysMax)},
		{"TrialsMax", int64(c.TrialsMax)},
		{"ExportsMax", int64(c.ExportsMax)},
		{"ExportEntriesMax", int64(c.ExportEntriesMax)},
		{"ExportBytesMax", int64(c.ExportBytesMax)},
		{"ClientsMax", int64(c.ClientsMax)},
		{"DebtMax", int64(c.DebtMax)},
		{"ValueBytesMax", int64(c.ValueBytesMax)},
		{"WaitMin", int64(c.WaitMin)},
		{"SubscribersMax", int64(c.SubscribersMax)},
		{"SubscriberDepth", int64(c.SubscriberDepth)},
		{"Heartbeat", int64(c.Heartbeat)},
		{"EventTimeout", int64(c.EventTimeout)},
		{"AdvanceBlocksMax", int64(c.AdvanceBlocksMax)},
		{"AdvanceTimeout", int64(c.AdvanceTimeout)},
	}
	for _, p := range positive {
		if p.value <= 0 {
			return fmt.Errorf("rpc %s must be above 0, is %d", p.name, p.value)
		}
	}
	switch {
	case c.Addr == "" && c.Listener == nil:
		return errors.New("rpc needs an address or a listener")
	case c.ClientShare > 100:
		return fmt.Errorf("rpc ClientShare is %d percent", c.ClientShare)
	case c.ListMax < c.ListDefault:
		return fmt.Errorf("rpc ListMax %d is below ListDefault %d", c.ListMax, c.ListDefault)
	case c.WaitMax < c.WaitMin:
		return fmt.Errorf("rpc WaitMax %v is below WaitMin %v", c.WaitMax, c.WaitMin)
	case c.RequestTimeout <= c.WaitMax:
		return fmt.Errorf("rpc RequestTimeout %v must be above WaitMax %v", c.RequestTimeout, c.WaitMax)
	case c.RequestsPerSecond < 0 || c.FaucetPerMinute < 0:
		return errors.New("rpc rate limits must not be negative")
	}
	return nil
}
