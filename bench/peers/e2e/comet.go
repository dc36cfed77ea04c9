package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/flood"
)

// startComet starts CometBFT validators with an application in one process, of which the
// first is spoken to.
func startComet(app string, validators int) func(*options, string) (*server, error) {
	return func(o *options, dir string) (*server, error) {
		port, err := freePorts(1 + validators)
		if err != nil {
			return nil, err
		}
		host := fmt.Sprintf("127.0.0.1:%d", port)
		return start(dir, host, o.program("comet"), "-home", filepath.Join(dir, "data"), "-rpc", host, "-app", app,
			"-validators", strconv.Itoa(validators), "-p2p", strconv.Itoa(port+1))
	}
}

// comet speaks CometBFT's JSON-RPC.
type comet struct {
	host string
	*evm // nil for pairs that nobody signs
}

func loadComet(signed bool) func(*server, int) (flood.Chain, func() flood.Encoder, error) {
	return func(s *server, accounts int) (flood.Chain, func() flood.Encoder, error) {
		c := &comet{host: s.host}
		if signed {
			var err error
			if c.evm, err = newEVM(accounts); err != nil {
				return nil, nil, err
			}
		}
		conn, err := flood.Dial(s.host, time.Minute)
		if err != nil {
			return nil, nil, err
		}
		defer conn.Close()
		return c, func() flood.Encoder { return &cometEncoder{chain: c} }, c.running(conn)
	}
}

// errNoBlocks means that the chain does not start.
var errNoBlocks = errors.New("no block after a minute")

// running waits for the first block.
func (c *comet) running(conn *flood.Conn) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if h, err := c.Head(conn); err == nil && h > 0 {
			return nil
		}
	}
	return errNoBlocks
}

// Accepted implements [flood.Chain].
func (c *comet) Accepted(answer []byte) (int, error) {
	n := bytes.Count(answer, []byte(`"result":{"code":0,`))
	if m := bytes.Count(answer, []byte(`"jsonrpc"`)); m != n {
		return n, fmt.Errorf("%d of %d transactions accepted: %s", n, m, answer[:min(len(answer), 400)])
	}
	return n, nil
}

// info is what the application says of itself.
type info struct {
	Result struct {
		Response struct {
			Data   string `json:"data"`
			Height string `json:"last_block_height"`
		} `json:"response"`
	} `json:"result"`
}

// Head implements [flood.Chain].
func (c *comet) Head(conn *flood.Conn) (uint64, error) {
	var reply info
	if err := conn.GetJSON("/abci_info", &reply); err != nil {
		return 0, err
	}
	if reply.Result.Response.Height == "" { // before the first block
		return 0, nil
	}
	return strconv.ParseUint(reply.Result.Response.Height, 10, 64)
}

// Applied implements [flood.Chain]: both applications count.
func (c *comet) Applied(conn *flood.Conn) (int, error) {
	var reply info
	if err := conn.GetJSON("/abci_info", &reply); err != nil {
		return 0, err
	}
	var data struct {
		Size int `json:"size"`
	}
	if err := json.Unmarshal([]byte(reply.Result.Response.Data), &data); err != nil {
		return 0, fmt.Errorf("size of the application %q: %w", reply.Result.Response.Data, err)
	}
	return data.Size, nil
}

// cometList is the most blocks that CometBFT lists.
const cometList = 20

// Counts implements [flood.Chain].
func (c *comet) Counts(conn *flood.Conn, from, to uint64) ([]int, error) {
	counts, have := make([]int, to-from+1), 0
	for low := from; low <= to; low += cometList {
		var reply struct {
			Result struct {
				Metas []struct {
					Txs    string `json:"num_txs"`
					Header struct {
						Height string `json:"height"`
					} `json:"header"`
				} `json:"block_metas"`
			} `json:"result"`
		}
		if err := conn.GetJSON(fmt.Sprintf("/blockchain?minHeight=%d&maxHeight=%d", low, min(to, low+cometList-1)), &reply); err != nil {
			return nil, err
		}
		for _, m := range reply.Result.Metas {
			height, err := strconv.ParseUint(m.Header.Height, 10, 64)
			if err != nil || height < from || height > to {
				return nil, fmt.Errorf("blocks %d to %d: height %q", from, to, m.Header.Height)
			}
			if counts[height-from], err = strconv.Atoi(m.Txs); err != nil {
				return nil, fmt.Errorf("block %d: %w", height, err)
			}
			have++
		}
	}
	if have != len(counts) {
		return nil, fmt.Errorf("%d of blocks %d to %d listed", have, from, to)
	}
	return counts, nil
}

// Contents implements [flood.Chain].
func (c *comet) Contents(conn *flood.Conn, height uint64, into []flood.ID) ([]flood.ID, error) {
	var reply struct {
		Result struct {
			Block struct {
				Data struct {
					Txs [][]byte `json:"txs"`
				} `json:"data"`
			} `json:"block"`
		} `json:"result"`
	}
	if err := conn.GetJSON(fmt.Sprintf("/block?height=%d", height), &reply); err != nil {
		return nil, err
	}
	for _, tx := range reply.Result.Block.Data.Txs {
		into = append(into, cometID(tx))
	}
	return into, nil
}

func cometID(tx []byte) flood.ID {
	hash := sha256.Sum256(tx)
	return flood.ID(binary.BigEndian.Uint64(hash[:8]))
}

// pairBytes is the length of an unsigned pair, that of a signed transfer.
const pairBytes = 112

// cometEncoder encodes for one worker.
type cometEncoder struct {
	chain          *comet
	body, tx, sign []byte
	number         uint64
}

// Request implements [flood.Encoder].
func (e *cometEncoder) Request(dst []byte, ids []flood.ID, turns []flood.Turn) ([]byte, []flood.ID) {
	e.body = append(e.body[:0], '[')
	for i, t := range turns {
		if e.number++; e.chain.evm != nil {
			e.tx, e.sign = e.chain.appendTransfer(e.tx[:0], e.sign, t, e.number)
		} else {
			e.tx = fmt.Appendf(e.tx[:0], "%06d.%010d=", t.Account, t.Nonce)
			for len(e.tx) < pairBytes {
				e.tx = append(e.tx, 'v')
			}
		}
		ids = append(ids, cometID(e.tx))
		if i > 0 {
			e.body = append(e.body, ',')
		}
		e.body = append(e.body, `{"jsonrpc":"2.0","id":1,"method":"broadcast_tx_sync","params":{"tx":"`...)
		e.body = base64.StdEncoding.AppendEncode(e.body, e.tx)
		e.body = append(e.body, `"}}`...)
	}
	e.body = append(e.body, ']')
	return flood.AppendPost(dst, e.chain.host, "/", "application/json", "", e.body), ids
}
