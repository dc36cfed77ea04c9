package p2p

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Config says who this node is, whom it talks to and how much it takes from
// them. The zero value is invalid; start from [DefaultConfig].
type Config struct {
	Genesis   chain.Hash
	Key       *ed25519.PrivateKey
	Committee []chain.PeerKey // validators; a peer's number is its place here

	ListenAddr string // UDP, host:port
	// Packets takes the port in place of the machine's UDP, for a network that is
	// simulated; nil: UDP.
	Packets   func(address string) (net.PacketConn, error)
	Advertise string // address told to peers; empty: the listen address if others can reach it
	// Addresses is where members are found at first. They tell each other
	// later ones.
	Addresses map[chain.PeerKey]string
	// BookFile keeps what members told of their addresses, for the next start.
	// Empty: they are forgotten.
	BookFile string
	// RecordFor is how long a member's word about its address counts. AnyAddress takes
	// addresses of private networks from peers on public ones, as a development chain
	// may want.
	RecordFor  time.Duration
	AnyAddress bool

	Version      uint16 // of the messages that this node knows: [Version]
	Capabilities uint64 // bits that peers are told; what they mean is the node's business

	FullNodesMax            int           // peers outside the committee, at most; 0: none is let in
	FullNodesPerNetwork     int           // of one IPv4 address or IPv6 /48
	FullNodeDivisor         float64       // by which their rates are lower
	FullNodeBytesPerSecond  int           // to one of them, as they leave the socket
	FullNodesBytesPerSecond int           // to all of them
	FullNodeBanFor          time.Duration // of the key and the address, after a violation
	FullNodeProven          time.Duration // a stay without fault after which a place is kept for it the next time
	FullNodeStay            time.Duration // after which it makes room for one that waits
	// HandshakesPerSecond is what one network may begin, HandshakesBurst what it may
	// begin at once beyond two for each member. StrangersPerSecond bounds all networks
	// together. Members at addresses they told of are not counted.
	HandshakesPerSecond, HandshakesBurst, StrangersPerSecond float64

	Limits           [NumClasses]Limit
	OfflineBytes     int           // what waits for members that are not connected, all together
	HandshakeTimeout time.Duration // from the first packet to the greeting
	IdleTimeout      time.Duration // silence after which a connection is dead
	KeepAlive        time.Duration
	FrameTimeout     time.Duration // from a frame's length to its end, plus its size at MinFrameRate
	MinFrameRate     int           // bytes per second
	RedialMin        time.Duration // first wait after a failed dial; doubles up to RedialMax
	RedialMax        time.Duration
	BanFor           time.Duration // after a violation
	ExchangeInterval time.Duration // between reminders of addresses
	FloodWait        time.Duration // transactions gathered into one batch
	SocketPatience   time.Duration // for which the UDP socket may fail to be read before Run ends

	// SocketFailed, if it is set, is told that the UDP socket cannot be read, again and
	// again, and with nil that it can. It must not block.
	SocketFailed func(error)
	// Linked, if it is set, is told the number of each member and full node that a
	// connection comes into use with, anew or for the first time. It must not block.
	Linked func(peer int)
	// Lost, if it is set, is told the number of each whose connection in use ended and
	// no other took over. It must not block.
	Lost func(peer int)

	Log *slog.Logger
}

// DefaultConfig fits a committee of up to 128 on the internet, for blocks of
// at most maxBlockBytes. Genesis, Key, Committee and the addresses are left to
// the caller.
func DefaultConfig(maxBlockBytes int) Config {
	return Config{
		ListenAddr: "127.0.0.1:4001",
		RecordFor:  24 * time.Hour, // told anew four times as often
		Version:    Version,

		FullNodesMax:    8, // some that archive and explore; they serve the others
		FullNodeDivisor: 8,

		FullNodesPerNetwork:     2,
		FullNodeBytesPerSecond:  8 << 20,  // the largest blocks of a second each, twice
		FullNodesBytesPerSecond: 16 << 20, // an eighth of a gigabit
		FullNodeBanFor:          10 * time.Minute,
		FullNodeProven:          10 * time.Minute,
		FullNodeStay:            time.Hour,
		HandshakesPerSecond:     4, // each of four redials every five seconds would be one
		HandshakesBurst:         32,
		StrangersPerSecond:      64, // two hundredths of a core

		Limits:           limits(maxBlockBytes),
		OfflineBytes:     max(64<<20, 4*maxBlockBytes), // a minute of votes for a third of 128, or a few blocks: who is away longer fetches
		HandshakeTimeout: 5 * time.Second,
		IdleTimeout:      10 * time.Second,
		KeepAlive:        3 * time.Second,
		FrameTimeout:     10 * time.Second,
		MinFrameRate:     64 << 10,
		RedialMin:        100 * time.Millisecond,
		RedialMax:        5 * time.Second,
		BanFor:           time.Minute,
		ExchangeInterval: 30 * time.Second,
		FloodWait:        2 * time.Millisecond,
		SocketPatience:   time.Minute, // the longest that an interface takes to come back, and short beside a supervisor's alarm
		Log:              slog.New(slog.DiscardHandler),
	}
}

// guestBytesMin lets a full node's connection live: what is asked for comes before
// the asker gives up.
const guestBytesMin = 64 << 10

// fullNodesLimit bounds the places.
const fullNodesLimit = 1024

// committeeMax bounds the committee, so that a bit vector of it is short.
const committeeMax = 1024

// Check reports the first setting that cannot work.
func (c *Config) Check() error {
	if c.Key == nil {
		return errors.New("identity key is missing")
	}
	if c.Genesis == (chain.Hash{}) {
		return errors.New("genesis hash is missing")
	}
	if len(c.Committee) == 0 || len(c.Committee) > committeeMax {
		return fmt.Errorf("committee of %d, want 1 to %d", len(c.Committee), committeeMax)
	}
	if _, _, err := net.SplitHostPort(c.ListenAddr); err != nil {
		return fmt.Errorf("p2p address %q: want HOST:PORT", c.ListenAddr)
	}
	if c.Advertise != "" {
		if err := checkAddress(c.Advertise); err != nil {
			return fmt.Errorf("advertised p2p address %q: %w", c.Advertise, err)
		}
	}
	for key, addr := range c.Addresses {
		if err := checkAddress(addr); err != nil {
			return fmt.Errorf("address %q of peer %x: %w", addr, key[:4], err)
		}
	}
	for class, limit := range c.Limits {
		if err := limit.check(); err != nil {
			return fmt.Errorf("%s: %w", Class(class), err)
		}
	}
	switch {
	case c.FullNodesMax < 0 || c.FullNodesMax > fullNodesLimit || c.FullNodeDivisor < 1 || c.FullNodesPerNetwork < 1:
		return fmt.Errorf("full nodes: want 0 to %d, at least 1 of a network and a divisor of at least 1", fullNodesLimit)
	case c.FullNodeBytesPerSecond < guestBytesMin || c.FullNodesBytesPerSecond < guestBytesMin:
		return fmt.Errorf("full nodes: want at least %d bytes per second", guestBytesMin)
	case c.FullNodeBanFor < 0 || c.FullNodeProven < 0 || c.FullNodeStay <= 0:
		return errors.New("full nodes: a time is not positive")
	case c.HandshakesPerSecond <= 0 || c.HandshakesBurst < 1 || c.StrangersPerSecond <= 0:
		return errors.New("a rate of handshakes is not positive")
	case c.OfflineBytes < 0:
		return fmt.Errorf("messages for members that are away = %d bytes, want at least 0", c.OfflineBytes)
	case c.HandshakeTimeout <= 0 || c.IdleTimeout <= 0 || c.FrameTimeout <= 0 || c.ExchangeInterval <= 0 || c.FloodWait < 0:
		return errors.New("a timeout is not positive")
	case c.KeepAlive <= 0 || c.KeepAlive >= c.IdleTimeout:
		return fmt.Errorf("keep-alive %v, want less than the idle timeout %v", c.KeepAlive, c.IdleTimeout)
	case c.RedialMin <= 0 || c.RedialMax < c.RedialMin || c.BanFor < 0 || c.MinFrameRate < 1:
		return errors.New("a retry setting is out of range")
	case c.RecordFor < 2*recordAhead:
		return fmt.Errorf("addresses count for %v, want at least %v", c.RecordFor, 2*recordAhead)
	case c.Version < 1:
		return errors.New("version of messages is 0")
	case c.SocketPatience < 0:
		return errors.New("patience with the socket is negative")
	case c.Log == nil:
		return errors.New("log is missing")
	}
	return nil
}
