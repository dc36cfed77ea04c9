package chain

// ReceiptStatus says how a transaction ended.
type ReceiptStatus uint8

const (
	StatusFailed    ReceiptStatus = 0 // included and charged, its effects undone
	StatusSucceeded ReceiptStatus = 1
)

// Receipt is the committed result of one transaction, or of a delivery outside
// of any: a message that waited in a mailbox, a timer. Those of the transactions
// come first in a block, in their order. Only the code of an error is kept, never
// its text (resolution 11.47).
type Receipt struct {
	TxHash     Hash          // id of the message or of the firing, for a delivery
	Lane       LaneID        `cbor:"most=uint64(NumLanes)-1"`
	Status     ReceiptStatus `cbor:"most=uint64(StatusSucceeded)"`
	Code       uint16        // CodeOK exactly when Status is StatusSucceeded; see the code table
	CyclesUsed Cycles
	CellsUsed  Cells
	Fee        Wei        // all that the sender paid besides value: burned base fee and tip
	Tip        Wei        // the part of Fee that went to the proposer
	Output     []byte     `cbor:"limit=MaxOutputBytes"` // what the handler returned, canonical; paid for in cells
	Events     []Event    `cbor:"limit=MaxEvents"`
	Trace      []Delivery `cbor:"limit=MaxDeliveries"` // the messages of the transaction, in the order of their delivery
}

// DeliveryStatus says what became of a message.
type DeliveryStatus uint8

const (
	DeliveryFailed    DeliveryStatus = 0 // its effects undone, its value returned
	DeliverySucceeded DeliveryStatus = 1
	DeliveryWaits     DeliveryStatus = 2 // in the receiver's mailbox, for a later block
)

// Delivery is one message of a transaction: what became of it (whitepaper §3.3;
// resolution 11.21).
type Delivery struct {
	Message Hash   // keccak256(sender ‖ nonce ‖ hash of the message)
	Parent  uint64 `cbor:"most=MaxDeliveries"` // 0: the transaction; n: the message at n-1 of the trace
	Depth   uint64 // 1 for what the transaction's own handler sent
	To      Address
	Status  DeliveryStatus `cbor:"most=uint64(DeliveryWaits)"`
	Code    uint16         // CodeOK, or why its effects were undone
	Cycles  Cycles         // used by the handler
}

// Event is a fact that an actor or the protocol announces. Its bytes, those of
// name and data, are paid for in cells, and each event in cycles: that bounds
// what the receipts of a block take ([Params.FinalBytesMax]).
type Event struct {
	Emitter Address
	Name    string `cbor:"limit=MaxEventName"`
	Data    []byte `cbor:"limit=MaxEventBytes"`
}
