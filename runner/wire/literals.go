//spec:implements CIP-11 12.6

package wire

// Literals of the runner link that enter signatures and handshakes, all in one
// place: the domains of its signed frames (CIP-11 §12.6). A changed byte here ends
// every link between old and new. No public text preserves those marked "ours"; the
// golden vectors under testdata pin them, so that they can be swapped in this one
// file should the originals appear.
const (
	domainHelloAck      = "cowboy-cip11-hello-ack-v1"      // ours
	domainConnection    = "cowboy-cip11-connection-v1"     // ours
	domainHeartbeatPing = "cowboy-cip11-heartbeat-ping-v1" // ours
	domainHeartbeatPong = "cowboy-cip11-heartbeat-pong-v1" // ours
	domainControl       = "cowboy-cip11-control-v1"
	domainJobAssignment = "cowboy-cip11-job-assignment-v1" // ours
	domainJobAck        = "cowboy-cip11-job-ack-v1"        // ours
	domainJobCancel     = "cowboy-cip11-job-cancel-v1"     // ours
	domainGoodbye       = "cowboy-cip11-goodbye-v1"        // ours
)

const (
	// ExporterLabel is the TLS exporter label of the channel binding: 32 bytes
	// with an empty context (RFC 8446 §7.5, CIP-11 §6.2).
	ExporterLabel = "cowboy-cip11-handshake-v1"
	// ALPN names the runner link in the TLS handshake. Ours.
	ALPN = "cowboy-cip11/1"
	// Version is major 1, minor 0 of the runner link (CIP-11 §12.3).
	Version uint16 = 0x0100
)
