package params

// The parts of Params.FinalBytesMax.
const (
	MinSignedTxBytes  = minSignedTxBytes
	ReceiptFixedBytes = receiptFixedBytes
	EventFixedBytes   = eventFixedBytes
	DeliveryBytes     = deliveryBytes
)
