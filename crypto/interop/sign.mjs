// Signs a table of Cowboy transactions and writes testdata/signed_transactions.json.
//
// Nothing here shares code with the node: curve and hash come from the noble
// libraries, and the CBOR encoder below is written from RFC 8949 alone. The Go
// tests decode the result, so a mistake on either side shows as a difference.

import { writeFileSync } from 'node:fs';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

// head encodes major type and argument in the shortest form (RFC 8949 §4.2.1).
function head(major, argument) {
  const n = BigInt(argument);
  const widths = [[24, 1], [25, 2], [26, 4], [27, 8]];
  if (n < 24n) return Uint8Array.of((major << 5) | Number(n));
  for (const [info, bytes] of widths) {
    if (n < 1n << BigInt(8 * bytes)) {
      return hexToBytes(((major << 5) | info).toString(16).padStart(2, '0') + n.toString(16).padStart(2 * bytes, '0'));
    }
  }
  throw new Error(`${n} has no 64-bit form`);
}

// encode knows the four kinds that a transaction is made of.
function encode(value) {
  if (value === null) return Uint8Array.of(0xf6);
  if (typeof value === 'bigint') return head(0, value);
  if (value instanceof Uint8Array) return concatBytes(head(2, value.length), value);
  if (Array.isArray(value)) return concatBytes(head(4, value.length), ...value.map(encode));
  throw new Error(`no encoding for ${typeof value}`);
}

const names = [
  'chain_id', 'nonce', 'to', 'value', 'cycles_limit', 'cells_limit',
  'max_fee_per_cycle', 'max_fee_per_cell', 'tip_per_cycle', 'tip_per_cell',
  'access_list', 'payload',
];

const address = (fill) => new Uint8Array(20).fill(fill);
const word = (fill) => new Uint8Array(32).fill(fill);
const plain = {
  chain_id: 1337n, nonce: 0n, to: address(0x22), value: 1_000_000_000n, cycles_limit: 21_000n, cells_limit: 500n,
  max_fee_per_cycle: 10n, max_fee_per_cell: 20n, tip_per_cycle: 1n, tip_per_cell: 2n,
  access_list: null, payload: new Uint8Array(0),
};

const max = (1n << 64n) - 1n;
// Values around every change of the encoded length, and around 2^53, where a
// double stops counting.
const edges = [
  0n, 1n, 23n, 24n, 255n, 256n, 65535n, 65536n, (1n << 32n) - 1n, 1n << 32n,
  (1n << 53n) - 1n, 1n << 53n, (1n << 53n) + 1n, (1n << 63n) - 1n, 1n << 63n, max,
];

const order = secp256k1.Point.Fn.ORDER;
const scalar = (n) => hexToBytes(n.toString(16).padStart(64, '0'));
const keys = [1n, 2n, order - 1n, order / 2n].map(scalar);
for (let i = 0; i < 8; i++) keys.push(keccak_256(utf8ToBytes(`cowboy interop key ${i}`)));

// Each row: a name, and the fields in which it differs from plain.
const table = [
  ['plain transfer', {}],
  ['first vector of the specification', {
    chain_id: 1n, to: address(0x11), value: 1n, cells_limit: 0n, max_fee_per_cell: 2n, tip_per_cell: 0n,
  }],
  ...edges.map((n) => [`nonce ${n}`, { nonce: n }]),
  ...edges.map((n) => [`value ${n}`, { value: n }]),
  ['every number at its largest', {
    chain_id: max, nonce: max, value: max, cycles_limit: max, cells_limit: max,
    max_fee_per_cycle: max, max_fee_per_cell: max, tip_per_cycle: max, tip_per_cell: max,
  }],
  ['every number zero', {
    chain_id: 0n, value: 0n, cycles_limit: 0n, cells_limit: 0n,
    max_fee_per_cycle: 0n, max_fee_per_cell: 0n, tip_per_cycle: 0n, tip_per_cell: 0n,
  }],
  ['deployment: to is null', { to: null, payload: utf8ToBytes('class Counter: pass') }],
  ['deployment without payload', { to: null }],
  ['to the zero address', { to: address(0) }],
  ['to the highest address', { to: address(0xff) }],
  ...[1, 23, 24, 255, 256, 1000].map((n) => [`payload of ${n} bytes`, { payload: new Uint8Array(n).fill(n & 0xff) }]),
  ['payload that looks like CBOR', { payload: hexToBytes('8d0102f6ff') }],
  ['empty access list', { access_list: [] }],
  ['access list with an address alone', { access_list: [[address(1), []]] }],
  ['access list with keys', {
    access_list: [[address(1), [word(1), word(2)]], [address(2), []], [address(3), [word(0), word(0xff)]]],
  }],
  ['access list of 24 addresses', {
    access_list: Array.from({ length: 24 }, (_, i) => [address(i + 1), []]),
  }],
  ['access list of 24 keys', {
    access_list: [[address(9), Array.from({ length: 24 }, (_, i) => word(i + 1))]],
  }],
  ['access list and payload', { access_list: [[address(1), [word(1)]]], payload: utf8ToBytes('{"amount":"1"}') }],
];

// readable turns a field into JSON: numbers as decimal strings, bytes as hex.
function readable(value) {
  if (value === null) return null;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return bytesToHex(value);
  return value.map(([to, slots]) => ({ address: bytesToHex(to), keys: slots.map(bytesToHex) }));
}

function sign([name, changes], i) {
  const tx = { ...plain, ...changes };
  const fields = names.map((n) => tx[n]);
  const key = keys[i % keys.length];
  const signingHash = keccak_256(encode([...fields, null]));
  // prehash off: the hash is signed as it is. Low s and RFC 6979 are defaults,
  // named here because the node insists on both.
  const signature = secp256k1.sign(signingHash, key, { prehash: false, lowS: true, format: 'recovered', extraEntropy: false });
  const body = encode([...fields, [BigInt(signature[0]), signature.slice(1, 33), signature.slice(33)]]);
  const publicKey = secp256k1.getPublicKey(key, false).slice(1);
  return {
    name,
    private_key: bytesToHex(key),
    address: bytesToHex(keccak_256(publicKey).slice(12)),
    body_hex: bytesToHex(body),
    tx_hash: bytesToHex(keccak_256(body)),
    signing_hash: bytesToHex(signingHash),
    fields: Object.fromEntries(names.map((n) => [n, readable(tx[n])])),
    signature: { y_parity: signature[0], r: bytesToHex(signature.slice(1, 33)), s: bytesToHex(signature.slice(33)) },
  };
}

const out = new URL('testdata/signed_transactions.json', import.meta.url);
writeFileSync(out, JSON.stringify(table.map(sign), null, 1) + '\n');
