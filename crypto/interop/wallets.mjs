// Writes testdata/wallet_signatures.json: what wallets sign for people, by ethers,
// web3 and noble. The first two write v as 27 or 28, noble as 0 or 1; all three
// are in use, and an actor is handed whichever the wallet made.
//
// A row has the digest that was signed, the 65 bytes and the signer's address; one
// of typed data (EIP-712) the domain separator and the hash of the structure too.

import { writeFileSync } from 'node:fs';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { TypedDataEncoder, Wallet, hashMessage } from 'ethers';
import { hashMessage as web3Hash, sign as web3Sign } from 'web3-eth-accounts';

const keys = Array.from({ length: 6 }, (_, i) => keccak_256(utf8ToBytes(`cowboy wallet key ${i}`)));
const plain = (hex) => hex.replace(/^0x/, '').toLowerCase();
const addressOf = (key) => bytesToHex(keccak_256(secp256k1.getPublicKey(key, false).slice(1)).slice(12));

const messages = ['', 'Sign in to Cowboy', 'ünïcödé 🐎', 'a'.repeat(300)];
const documents = [
  {
    name: 'mail of EIP-712',
    domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC' },
    types: {
      Person: [{ name: 'name', type: 'string' }, { name: 'wallet', type: 'address' }],
      Mail: [{ name: 'from', type: 'Person' }, { name: 'to', type: 'Person' }, { name: 'contents', type: 'string' }],
    },
    primary: 'Mail',
    value: {
      from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
      to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
      contents: 'Hello, Bob!',
    },
  },
  {
    name: 'permit',
    domain: { name: 'Cowboy', version: '1', chainId: 1337, verifyingContract: '0x' + '22'.repeat(20) },
    types: {
      Permit: [
        { name: 'owner', type: 'address' }, { name: 'spender', type: 'address' }, { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' }, { name: 'deadline', type: 'uint256' },
      ],
    },
    primary: 'Permit',
    value: { owner: '0x' + '11'.repeat(20), spender: '0x' + '33'.repeat(20), value: (1n << 255n).toString(), nonce: 0, deadline: 4102444800 },
  },
];

const rows = [];
for (const [i, key] of keys.entries()) {
  const hex = '0x' + bytesToHex(key);
  const wallet = new Wallet(hex);
  const address = addressOf(key);
  for (const text of messages) {
    const digest = plain(hashMessage(text));
    rows.push({ wallet: 'ethers', name: `message of ${text.length}`, address, digest, signature: plain(await wallet.signMessage(text)) });
    if (plain(web3Hash(text)) !== digest) throw new Error('web3 and ethers hash a message differently');
    rows.push({ wallet: 'web3', name: `message of ${text.length}`, address, digest, signature: plain(web3Sign(text, hex).signature) });
  }
  for (const d of documents) {
    const domain = plain(TypedDataEncoder.hashDomain(d.domain));
    const struct = plain(TypedDataEncoder.hashStruct(d.primary, d.types, d.value));
    const digest = plain(TypedDataEncoder.hash(d.domain, d.types, d.value));
    rows.push({
      wallet: 'ethers', name: d.name, address, domain, struct, digest,
      signature: plain(await wallet.signTypedData(d.domain, d.types, d.value)),
    });
    const signature = secp256k1.sign(hexToBytes(digest), key, { prehash: false, lowS: true, format: 'recovered', extraEntropy: false });
    rows.push({
      wallet: 'noble', name: d.name, address, domain, struct, digest,
      signature: bytesToHex(concatBytes(signature.slice(1), signature.slice(0, 1))),
    });
  }
}

const out = new URL('testdata/wallet_signatures.json', import.meta.url);
writeFileSync(out, JSON.stringify(rows, null, 1) + '\n');
