package host

import "github.com/cowboy-foundation/cowboy/chain"

// Amount counts the smallest units of a token, 0 to 2^128-1.
type Amount = chain.Amount

// TokenID names a token: keccak256(creator ‖ symbol ‖ nonce) (CIP-20).
type TokenID [32]byte

// Token is a token's record.
type Token struct {
	Name, Symbol string // 1 to 64 and 1 to 16 bytes
	Decimals     uint8  // at most 38
	Supply       Amount
	Max          *Amount        // nil: no bound
	Owner        *chain.Address // nil: given up
	Hooks        *chain.Address // asked before and told after a transfer
}

// Payment is one of several transfers.
type Payment struct {
	To     chain.Address
	Amount Amount
}

// Tokens is fungible tokens (CIP-20; costs whitepaper §17.3). What moves is the
// calling actor's, and it must be the owner where that is written. Every method
// refuses with RefusedTarget for a token that does not exist. Hooks run within a
// transfer, each capped at 50,000 cycles, which are charged as they are used; a
// hook that does not agree is RefusedFailed.
type Tokens interface {
	// CreateToken makes a token whose supply belongs to the actor, who is the
	// owner. Charge: token_create. Cells: 256, and a byte of name and symbol each.
	CreateToken(t Token) (TokenID, error)
	// TransferToken refuses with RefusedFunds, RefusedFrozen. Charge:
	// token_transfer. Cells: 64.
	TransferToken(id TokenID, p Payment) error
	// TransferTokens makes all payments, 1 to 256, or none. Charge:
	// token_transfer_many, and token_transfer_each for each. Cells: 64 each.
	TransferTokens(id TokenID, ps []Payment) error
	// TransferTokenFrom moves owner's within what owner has approved for the
	// actor: RefusedAllowance beyond. Charge: token_transfer_from. Cells: 96.
	TransferTokenFrom(id TokenID, owner chain.Address, p Payment) error
	// ApproveToken sets what spender may move of the actor's. Charge:
	// token_approve. Cells: 32.
	ApproveToken(id TokenID, spender chain.Address, amount Amount) error
	// MintToken is the owner's: RefusedPermission otherwise, RefusedLimit beyond
	// Max, RefusedFrozen. Charge: token_mint. Cells: 64.
	MintToken(id TokenID, p Payment) error
	// BurnToken destroys some of the actor's. Charge: token_burn. Cells: 64.
	BurnToken(id TokenID, amount Amount) error
	// FreezeToken is the owner's: a frozen account neither sends nor receives.
	// Charge: token_admin. Cells, here and for owner and hooks: 32.
	FreezeToken(id TokenID, holder chain.Address, frozen bool) error
	// SetTokenOwner is the owner's; nil gives the token up. Charge: token_admin.
	SetTokenOwner(id TokenID, owner *chain.Address) error
	// SetTokenHooks is the owner's; nil: none. Charge: token_admin.
	SetTokenHooks(id TokenID, hooks *chain.Address) error
	// TokenBalance of any account. Charge: token_balance_of.
	TokenBalance(id TokenID, holder chain.Address) (Amount, error)
	// TokenAllowance is what spender may move of owner's. Charge:
	// token_balance_of.
	TokenAllowance(id TokenID, owner, spender chain.Address) (Amount, error)
	// TokenFrozen tells whether an account is frozen. Charge: token_balance_of.
	TokenFrozen(id TokenID, holder chain.Address) (bool, error)
	// Token returns the record. Charge: token_info.
	Token(id TokenID) (Token, error)
}
