package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/flood"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// startGeth starts go-ethereum's development chain with a block as soon as there is a
// transaction, and with limits of gas and of its pool far above what is sent.
func startGeth(o *options, dir string) (*server, error) {
	port, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	return start(dir, fmt.Sprintf("127.0.0.1:%d", port), o.program("geth"),
		"--dev", "--dev.period", "0", "--dev.gaslimit", "3000000000", "--miner.gaslimit", "3000000000",
		"--datadir", filepath.Join(dir, "data"), "--keystore", filepath.Join(dir, "keys"), "--password", os.DevNull,
		"--http", "--http.addr", "127.0.0.1", "--http.port", strconv.Itoa(port), "--http.api", "eth,net,web3",
		"--authrpc.port", strconv.Itoa(port+1), "--nodiscover", "--ipcdisable", "--cache", "1024", "--verbosity", "1",
		"--txpool.accountslots", "100000", "--txpool.accountqueue", "100000", "--txpool.globalslots", "1000000", "--txpool.globalqueue", "1000000")
}

// geth speaks Ethereum's JSON-RPC.
type geth struct {
	host string
	*evm
}

func loadGeth(s *server, accounts int) (flood.Chain, func() flood.Encoder, error) {
	e, err := newEVM(accounts)
	if err != nil {
		return nil, nil, err
	}
	g := &geth{host: s.host, evm: e}
	conn, err := flood.Dial(s.host, time.Minute)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	if err := g.fund(conn); err != nil {
		return nil, nil, fmt.Errorf("fund the accounts: %w", err)
	}
	return g, func() flood.Encoder { return &gethEncoder{chain: g} }, nil
}

// call is one question of a batch.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// gethBatch is the most questions of one request.
const gethBatch = 500

// ask puts one question for each list of parameters and returns the answers in order.
func (g *geth) ask(conn *flood.Conn, method string, params [][]any) ([]json.RawMessage, error) {
	var results []json.RawMessage
	for len(params) > 0 {
		part := params[:min(gethBatch, len(params))]
		params = params[len(part):]
		batch := make([]call, len(part))
		for i := range part {
			batch[i] = call{Version: "2.0", ID: i, Method: method, Params: part[i]}
		}
		body, err := json.Marshal(batch)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		raw, err := conn.Do(flood.AppendPost(nil, g.host, "/", "application/json", "", body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var answers []struct {
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(raw, &answers); err != nil || len(answers) != len(part) {
			return nil, fmt.Errorf("%s: %d answers of %d: %w", method, len(answers), len(part), err)
		}
		for _, a := range answers {
			if a.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, a.Error.Message)
			}
			results = append(results, a.Result)
		}
	}
	return results, nil
}

// numbers asks for numbers.
func (g *geth) numbers(conn *flood.Conn, method string, params [][]any) ([]uint64, error) {
	results, err := g.ask(conn, method, params)
	if err != nil {
		return nil, err
	}
	list := make([]uint64, len(results))
	for i, raw := range results {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if list[i], err = strconv.ParseUint(text, 0, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	return list, nil
}

// errNoFunds means that the accounts have no money after a minute.
var errNoFunds = errors.New("the chain does not include the transfers to the accounts")

// fund has the development account, which the node can sign for, give to all.
func (g *geth) fund(conn *flood.Conn) error {
	accounts, err := g.ask(conn, "eth_accounts", [][]any{{}})
	if err != nil {
		return err
	}
	var rich []string
	if err := json.Unmarshal(accounts[0], &rich); err != nil || len(rich) == 0 {
		return fmt.Errorf("development account: %s: %w", accounts[0], err)
	}
	const each = "0xd3c21bcecceda1000000" // a million ether
	before, err := g.numbers(conn, "eth_getTransactionCount", [][]any{{rich[0], "latest"}})
	if err != nil {
		return err
	}
	var grants [][]any
	for i := range g.keys {
		// The nonce is said: what the node guesses while it makes a block may be taken.
		grants = append(grants, []any{map[string]string{
			"from": rich[0], "to": "0x" + hex.EncodeToString(g.keys[i].Address[:]), "value": each, "gas": "0x5208",
			"nonce": fmt.Sprintf("%#x", before[0]+uint64(i)),
		}})
	}
	if _, err := g.ask(conn, "eth_sendTransaction", grants); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		done, err := g.numbers(conn, "eth_getTransactionCount", [][]any{{rich[0], "latest"}})
		if err != nil {
			return err
		}
		if done[0] >= before[0]+uint64(len(g.keys)) {
			return nil
		}
	}
	return errNoFunds
}

// Accepted implements [flood.Chain].
func (g *geth) Accepted(answer []byte) (int, error) {
	n := bytes.Count(answer, []byte(`"result":"0x`))
	if at := bytes.Index(answer, []byte(`"error":`)); at >= 0 {
		return n, fmt.Errorf("transaction refused: %s", answer[at:min(len(answer), at+200)])
	}
	return n, nil
}

// Head implements [flood.Chain].
func (g *geth) Head(conn *flood.Conn) (uint64, error) {
	n, err := g.numbers(conn, "eth_blockNumber", [][]any{{}})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// Counts implements [flood.Chain].
func (g *geth) Counts(conn *flood.Conn, from, to uint64) ([]int, error) {
	var params [][]any
	for h := from; h <= to; h++ {
		params = append(params, []any{fmt.Sprintf("%#x", h)})
	}
	numbers, err := g.numbers(conn, "eth_getBlockTransactionCountByNumber", params)
	counts := make([]int, len(numbers))
	for i, n := range numbers {
		counts[i] = int(n)
	}
	return counts, err
}

// Contents implements [flood.Chain].
func (g *geth) Contents(conn *flood.Conn, height uint64, into []flood.ID) ([]flood.ID, error) {
	results, err := g.ask(conn, "eth_getBlockByNumber", [][]any{{fmt.Sprintf("%#x", height), false}})
	if err != nil {
		return nil, err
	}
	var block struct {
		Transactions []string `json:"transactions"`
	}
	if err := json.Unmarshal(results[0], &block); err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	for _, text := range block.Transactions {
		var hash [8]byte
		if _, err := hex.Decode(hash[:], []byte(text)[2:18]); err != nil {
			return nil, fmt.Errorf("block %d: hash %q: %w", height, text, err)
		}
		into = append(into, flood.ID(binary.BigEndian.Uint64(hash[:])))
	}
	return into, nil
}

// Applied implements [flood.Chain]: the nonces of all senders.
func (g *geth) Applied(conn *flood.Conn) (int, error) {
	var params [][]any
	for i := range g.keys {
		params = append(params, []any{"0x" + hex.EncodeToString(g.keys[i].Address[:]), "latest"})
	}
	numbers, err := g.numbers(conn, "eth_getTransactionCount", params)
	sum := 0
	for _, n := range numbers {
		sum += int(n)
	}
	return sum, err
}

// gethEncoder signs and encodes for one worker.
type gethEncoder struct {
	chain          *geth
	body, tx, sign []byte
	number         uint64
}

// Request implements [flood.Encoder].
func (e *gethEncoder) Request(dst []byte, ids []flood.ID, turns []flood.Turn) ([]byte, []flood.ID) {
	e.body = append(e.body[:0], '[')
	for i, t := range turns {
		e.number++
		e.tx, e.sign = e.chain.appendTransfer(e.tx[:0], e.sign, t, e.number)
		hash := keccak.Sum256(e.tx)
		ids = append(ids, flood.ID(binary.BigEndian.Uint64(hash[:8])))
		if i > 0 {
			e.body = append(e.body, ',')
		}
		e.body = append(e.body, `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x`...)
		e.body = hex.AppendEncode(e.body, e.tx)
		e.body = append(e.body, `"]}`...)
	}
	e.body = append(e.body, ']')
	return flood.AppendPost(dst, e.chain.host, "/", "application/json", "", e.body), ids
}
