package flood

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// answerBytesMax bounds an answer: a block of 100,000 transactions takes about 30 MB.
const answerBytesMax = 512 << 20

// Conn is one connection of HTTP/1.1 with one request outstanding. Nothing of
// net/http's client stands between a request and the wire.
type Conn struct {
	host    string
	conn    net.Conn
	reader  *bufio.Reader
	body    bytes.Buffer
	timeout time.Duration
}

// Dial connects to a node.
func Dial(host string, timeout time.Duration) (*Conn, error) {
	c, err := net.DialTimeout("tcp", host, timeout)
	if err != nil {
		return nil, fmt.Errorf("dial node: %w", err)
	}
	return &Conn{host: host, conn: c, reader: bufio.NewReaderSize(c, 64<<10), timeout: timeout}, nil
}

// Close ends the connection.
func (c *Conn) Close() { _ = c.conn.Close() }

// Do writes a whole request and reads its answer, which is good until the next call.
func (c *Conn) Do(request []byte) ([]byte, error) {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return nil, fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.conn.Write(request); err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	reply, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	defer reply.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(io.LimitReader(reply.Body, answerBytesMax)); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		return nil, &StatusError{Status: reply.StatusCode, Text: clip(c.body.Bytes())}
	}
	return c.body.Bytes(), nil
}

// StatusError is an answer that refuses the whole request.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("node answered %d: %s", e.Status, e.Text)
}

// Get asks for a path.
func (c *Conn) Get(path string) ([]byte, error) {
	return c.Do([]byte("GET " + path + " HTTP/1.1\r\nHost: " + c.host + "\r\n\r\n"))
}

// GetJSON asks for a path and decodes the answer.
func (c *Conn) GetJSON(path string, into any) error {
	body, err := c.Get(path)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// clipBytes is what is shown of an answer that was not expected.
const clipBytes = 400

func clip(b []byte) string { return string(b[:min(len(b), clipBytes)]) }
