package flood

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/internal/quicksign"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// submitPath is where ours takes transactions; the answer has no hashes, which the load knows.
const submitPath = "/submit?hashes=0"

// CowboyBatch is the most transactions that one /submit of ours takes.
const CowboyBatch = 50

// cowboy is a chain of ours: plain transfers of one unit from accounts of the seed to
// as many receivers.
type cowboy struct {
	host      string
	terms     chain.Tx // fields that all transfers share
	keys      []quicksign.Key
	receivers []chain.Address
	nonces    *quicksign.Nonces
}

const (
	nonceTable  = 1024
	feeHeadroom = 1000 // largest base fee accepted, in multiples of today's
	// perSender is what each account is given: enough for twenty thousand transfers.
	perSender = 20_000
	// fundWaits is how many transfers of one account wait at most: a pool keeps 256.
	fundWaits = 4 * CowboyBatch
)

// NewCowboy reads a node's prices, makes accounts from the seed and gives them money
// from the fund key, which must be that of a rich account that nobody else uses.
// The accounts must be new to the chain.
func NewCowboy(host string, seed uint64, accounts int, fundKey [32]byte) (Chain, func() Encoder, error) {
	conn, err := Dial(host, requestTimeout)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	c := &cowboy{host: host, nonces: quicksign.NewNonces(nonceTable)}
	if err := c.price(conn); err != nil {
		return nil, nil, err
	}
	for i := range accounts {
		key, err := quicksign.NewKey(seed, i)
		if err != nil {
			return nil, nil, fmt.Errorf("account %d: %w", i, err)
		}
		c.keys = append(c.keys, key)
		receiver := keccak.Sum256([]byte("cowboy bench receiver"), binary.BigEndian.AppendUint64(nil, uint64(i)))
		c.receivers = append(c.receivers, chain.Address(receiver[12:]))
	}
	if err := c.fund(conn, fundKey); err != nil {
		return nil, nil, fmt.Errorf("fund the accounts: %w", err)
	}
	return c, func() Encoder { return &cowboyEncoder{chain: c} }, nil
}

// price fills in what all transfers share.
func (c *cowboy) price(conn *Conn) error {
	var fees rpc.BaseFeeReply
	if err := conn.GetJSON("/basefee", &fees); err != nil {
		return err
	}
	var params rpc.ParamsReply
	if err := conn.GetJSON("/params", &params); err != nil {
		return err
	}
	cycle, cell := fees.Cycle, fees.Cell
	for _, lane := range fees.Lanes {
		cycle, cell = max(cycle, lane.Cycle), max(cell, lane.Cell)
	}
	if max(cycle, cell) > math.MaxUint32 {
		return fmt.Errorf("base fees of %d and %d are too high to leave headroom above them", cycle, cell)
	}
	c.terms = chain.Tx{
		ChainID: fees.ChainID, Value: 1, CyclesLimit: params.IntrinsicCosts.TransferCycles,
		MaxFeePerCycle: cycle*feeHeadroom + 1, MaxFeePerCell: cell * feeHeadroom, TipPerCycle: 1,
	}
	return nil
}

// fund gives every account the same, by transfers of the rich one, and waits for them.
func (c *cowboy) fund(conn *Conn, fundKey [32]byte) error {
	rich, err := secp256k1.ParsePrivateKey(fundKey[:])
	if err != nil {
		return err
	}
	address := rich.PublicKey().Address()
	have, err := c.fetchAccount(conn, address)
	if err != nil {
		return err
	}
	each := perSender * (c.terms.Value + chain.Wei(c.terms.CyclesLimit)*c.terms.MaxFeePerCycle)
	if total := each * chain.Wei(len(c.keys)); have.Spendable < total {
		return fmt.Errorf("%s has %d, %d accounts need %d", chain.Address(address), have.Spendable, len(c.keys), total)
	}
	var body, request []byte
	for i := range c.keys {
		tx := c.terms
		tx.To, tx.Value, tx.Nonce = (*chain.Address)(&c.keys[i].Address), each, have.Nonce+uint64(i)
		sig := rich.Sign(tx.SigningHash())
		tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		body = tx.AppendWire(body)
		if (i+1)%CowboyBatch != 0 && i+1 != len(c.keys) {
			continue
		}
		request = AppendPost(request[:0], c.host, submitPath, "application/octet-stream", rpc.VerdictsMedia, body)
		answer, err := conn.Do(request)
		if err != nil {
			return err
		}
		if n, err := c.Accepted(answer); err != nil {
			return fmt.Errorf("%d of a batch accepted: %w", n, err)
		}
		body = body[:0]
		if (i+1)%fundWaits == 0 || i+1 == len(c.keys) {
			if err := c.settled(conn, address, tx.Nonce+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled waits until an account's nonce is what it is to be.
func (c *cowboy) settled(conn *Conn, address chain.Address, nonce uint64) error {
	for deadline := time.Now().Add(requestTimeout); ; time.Sleep(20 * time.Millisecond) {
		have, err := c.fetchAccount(conn, address)
		if err != nil || have.Nonce >= nonce {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nonce %d after %v, want %d", have.Nonce, requestTimeout, nonce)
		}
	}
}

// fetchAccount returns nothing for one that is not on the chain yet.
func (c *cowboy) fetchAccount(conn *Conn, address chain.Address) (reply rpc.AccountReply, err error) {
	err = conn.GetJSON("/account/"+address.String(), &reply)
	var status *StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		return rpc.AccountReply{}, nil
	}
	return reply, err
}

// Accepted implements [Chain]. The answer is the binary one.
func (c *cowboy) Accepted(answer []byte) (n int, err error) {
	verdicts, _, err := rpc.DecodeVerdicts(make([]rpc.Verdict, 0, CowboyBatch), answer, CowboyBatch)
	if err != nil {
		return 0, fmt.Errorf("answer to /submit: %w", err)
	}
	for _, v := range verdicts {
		if v.Code != rpc.CodeOK {
			return n, fmt.Errorf("transaction refused: code %d: %s", v.Code, v.Message)
		}
		n++
	}
	return n, nil
}

// Head implements [Chain].
func (c *cowboy) Head(conn *Conn) (uint64, error) {
	var reply rpc.HeightReply
	err := conn.GetJSON("/height", &reply)
	return reply.Height, err
}

// Counts implements [Chain].
func (c *cowboy) Counts(conn *Conn, from, to uint64) ([]int, error) {
	head, err := c.Head(conn)
	if err != nil {
		return nil, err
	}
	counts, have := make([]int, to-from+1), 0
	// The head may move on: a few lines more at both ends are none too many.
	var reply rpc.BlocksReply
	if err := conn.GetJSON(fmt.Sprintf("/blocks?offset=%d&limit=%d", head-to, min(to-from+8, 1000)), &reply); err != nil {
		return nil, err
	}
	for _, b := range reply.Blocks {
		if b.Height >= from && b.Height <= to {
			counts[b.Height-from] = b.TxCount
			have++
		}
	}
	if have != len(counts) {
		return nil, fmt.Errorf("%d of blocks %d to %d listed", have, from, to)
	}
	return counts, nil
}

// Contents implements [Chain]. It looks for the hashes of the transactions itself: to
// decode all of the answer takes ten times as long.
func (c *cowboy) Contents(conn *Conn, height uint64, into []ID) ([]ID, error) {
	body, err := conn.Get(fmt.Sprintf("/block/%d", height))
	if err != nil {
		return nil, err
	}
	_, list, ok := bytes.Cut(body, []byte(`"transactions":[`))
	if !ok {
		return nil, fmt.Errorf("no transactions in %s", clip(body))
	}
	return appendHashes(into, list, `{"hash":"0x`)
}

// appendHashes appends the first eight bytes of each hex hash that stands behind a mark.
func appendHashes(into []ID, list []byte, mark string) ([]ID, error) {
	for {
		at := bytes.Index(list, []byte(mark))
		if at < 0 {
			return into, nil
		}
		list = list[at+len(mark):]
		var b [8]byte
		if _, err := hex.Decode(b[:], list[:min(2*len(b), len(list))]); err != nil || len(list) < 2*len(b) {
			return nil, fmt.Errorf("hash %q: %w", clip(list), err)
		}
		into = append(into, ID(binary.BigEndian.Uint64(b[:])))
	}
}

// Applied implements [Chain]: the nonces of all senders.
func (c *cowboy) Applied(conn *Conn) (int, error) {
	sum := 0
	for i := range c.keys {
		have, err := c.fetchAccount(conn, c.keys[i].Address)
		if err != nil {
			return 0, err
		}
		sum += int(have.Nonce)
	}
	return sum, nil
}

// cowboyEncoder signs and encodes for one worker.
type cowboyEncoder struct {
	chain *cowboy
	body  []byte
	tx    []byte
	turn  uint64
}

// Request implements [Encoder].
func (e *cowboyEncoder) Request(dst []byte, ids []ID, turns []Turn) ([]byte, []ID) {
	e.body = e.body[:0]
	for _, t := range turns {
		tx := e.chain.terms
		tx.To, tx.Nonce = &e.chain.receivers[t.Account], t.Nonce
		e.turn++
		sig := e.chain.nonces.Sign(&e.chain.keys[t.Account], tx.SigningHash(), e.turn)
		tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		e.tx = tx.AppendWire(e.tx[:0])
		hash := chain.TxHash(e.tx[4:]) // behind the length
		ids = append(ids, ID(binary.BigEndian.Uint64(hash[:8])))
		e.body = append(e.body, e.tx...)
	}
	return AppendPost(dst, e.chain.host, submitPath, "application/octet-stream", rpc.VerdictsMedia, e.body), ids
}
