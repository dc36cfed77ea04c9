package chain

// HashUnchecked hashes a genesis file without judging it.
func HashUnchecked(b []byte) (Hash, error) {
	g, err := parseGenesis(b)
	if err != nil {
		return Hash{}, err
	}
	return g.Hash(), nil
}

// The parts of Params.FinalBytesMax.
const (
	MinSignedTxBytes  = minSignedTxBytes
	ReceiptFixedBytes = receiptFixedBytes
	EventFixedBytes   = eventFixedBytes
	DeliveryBytes     = deliveryBytes
)
