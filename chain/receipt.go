package chain

// ReceiptStatus says how a transaction ended.
type ReceiptStatus uint8

const (
	StatusFailed    ReceiptStatus = 0 // included and charged, its effects undone
	StatusSucceeded ReceiptStatus = 1
)

// Receipt is the committed result of one transaction. Only the code of an
// error is kept, never its text (resolution 11.47).
type Receipt struct {
	TxHash     Hash
	Lane       LaneID        `cbor:"most=uint64(NumLanes)-1"`
	Status     ReceiptStatus `cbor:"most=uint64(StatusSucceeded)"`
	Code       uint16        // CodeOK exactly when Status is StatusSucceeded; see the code table
	CyclesUsed Cycles
	CellsUsed  Cells
	Fee        Wei     // all that the sender paid besides value: burned base fee and tip
	Tip        Wei     // the part of Fee that went to the proposer
	Events     []Event `cbor:"limit=MaxEvents"`
}

// Event is a fact that an actor or the protocol announces. Its bytes, those of
// name and data, are paid for in cells, and each event in cycles: that bounds
// what the receipts of a block take ([Params.FinalBytesMax]).
type Event struct {
	Emitter Address
	Name    string `cbor:"limit=MaxEventName"`
	Data    []byte `cbor:"limit=MaxEventBytes"`
}
