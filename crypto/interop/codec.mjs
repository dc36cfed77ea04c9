// The encodings that the Cowboy chain uses: deterministic CBOR, LEB128, RLP, Merkle-Patricia
// tries and BLS signatures. Everything is strict: what has two spellings is refused.
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bls12_381 } from '@noble/curves/bls12-381.js';

export const keccak = (...parts) => keccak_256(concat(...parts));
export const ascii = (s) => new TextEncoder().encode(s);
export const hex = (b) => '0x' + Buffer.from(b).toString('hex');
export const equal = (a, b) => Buffer.compare(a, b) === 0;

export function check(condition, message) {
  if (!condition) throw new Error(typeof message === 'function' ? message() : message);
}

export function utf8(bytes) {
  const s = Buffer.from(bytes).toString('utf8');
  check(equal(ascii(s), bytes), 'not UTF-8');
  return s;
}

export function concat(...parts) {
  return new Uint8Array(Buffer.concat(parts));
}

// unhex takes 0x and lower-case hex, of so many bytes if a length is given.
export function unhex(s, length) {
  check(typeof s === 'string' && /^0x([0-9a-f]{2})*$/.test(s), 'not 0x and lower-case hex');
  const b = new Uint8Array(Buffer.from(s.slice(2), 'hex'));
  check(length === undefined || b.length === length, () => `${b.length} bytes instead of ${length}`);
  return b;
}

export function be(n, bytes) {
  return unhex('0x' + BigInt(n).toString(16).padStart(2 * bytes, '0'), bytes);
}

export function uvarint(n) {
  const out = [];
  for (n = BigInt(n); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
  return Uint8Array.from([...out, Number(n)]);
}

// A reader of bytes that never runs over the end.
export class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  take(n) {
    check(n <= this.bytes.length - this.at, 'ends too early');
    return this.bytes.subarray(this.at, (this.at += n));
  }
  byte() { return this.take(1)[0]; }
  uint(n) { return BigInt('0x' + Buffer.from(this.take(n)).toString('hex')); }
  uvarint() {
    for (let n = 0n, shift = 0n; ; shift += 7n) {
      const b = this.byte();
      n |= BigInt(b & 127) << shift;
      check(n < 1n << 64n && shift < 70n, 'uvarint above 64 bits');
      if (b < 128) { check(b || !shift, 'uvarint is not in its shortest form'); return n; }
    }
  }
  end() { check(this.at === this.bytes.length, 'bytes behind the end'); }
}

// ---- CBOR. Integers are BigInt, byte strings Uint8Array, texts strings, maps Map.

function head(major, n) {
  n = BigInt(n);
  if (n < 24n) return Uint8Array.of(major << 5 | Number(n));
  const [info, bytes] = n < 1n << 8n ? [24, 1] : n < 1n << 16n ? [25, 2] : n < 1n << 32n ? [26, 4] : [27, 8];
  return concat(Uint8Array.of(major << 5 | info), be(n, bytes));
}

export function encode(v) {
  if (v === false) return Uint8Array.of(0xf4);
  if (v === true) return Uint8Array.of(0xf5);
  if (v === null) return Uint8Array.of(0xf6);
  if (typeof v === 'bigint') return v >= 0n ? head(0, v) : head(1, -1n - v);
  if (typeof v === 'string') return concat(head(3, ascii(v).length), ascii(v));
  if (v instanceof Uint8Array) return concat(head(2, v.length), v);
  if (Array.isArray(v)) return concat(head(4, v.length), ...v.map(encode));
  check(v instanceof Map, () => `CBOR has no ${typeof v}`);
  const pairs = [...v].map(([k, x]) => [encode(k), encode(x)]).sort((a, b) => order(a[0], b[0]));
  return concat(head(5, pairs.length), ...pairs.flat());
}

// The order of map keys: by their encoded bytes. The head has the length, so shorter texts come first.
const order = (a, b) => Buffer.compare(a, b);

export function decode(bytes) {
  const r = new Reader(bytes), v = item(r, 0);
  r.end();
  return v;
}

function item(r, depth) {
  check(depth < 64, 'CBOR nested too deep');
  const first = r.byte(), major = first >> 5, info = first & 31;
  if (major === 7) {
    check(info >= 20 && info <= 22, 'CBOR: neither false, true nor null');
    return [false, true, null][info - 20];
  }
  check(major !== 6, 'CBOR: a tag');
  check(info < 28, 'CBOR: indefinite or reserved length');
  const n = info < 24 ? BigInt(info) : r.uint(1 << (info - 24));
  check(info < 24 || n >= [24n, 1n << 8n, 1n << 16n, 1n << 32n][info - 24], 'CBOR: not the shortest form');
  if (major === 0) return n;
  if (major === 1) return -1n - n;
  check(n <= BigInt(r.bytes.length - r.at), 'CBOR: length beyond the end');
  if (major === 2) return r.take(Number(n));
  if (major === 3) return utf8(r.take(Number(n)));
  if (major === 4) return Array.from({ length: Number(n) }, () => item(r, depth + 1));
  const map = new Map();
  for (let i = 0, last; i < n; i++) {
    const from = r.at, key = item(r, depth + 1), encoded = r.bytes.subarray(from, r.at);
    check(!last || order(last, encoded) < 0, 'CBOR: keys of a map out of order');
    map.set(key, item(r, depth + 1));
    last = encoded;
  }
  return map;
}

// ---- RLP and the Merkle-Patricia trie. An RLP item is a Uint8Array or an array of items.

function rlpHead(base, length) {
  if (length < 56) return Uint8Array.of(base + length);
  const size = Math.ceil(length.toString(16).length / 2);
  return concat(Uint8Array.of(base + 55 + size), be(length, size));
}

export function rlp(v) {
  if (v instanceof Uint8Array) return v.length === 1 && v[0] < 128 ? v : concat(rlpHead(128, v.length), v);
  const body = concat(...v.map(rlp));
  return concat(rlpHead(192, body.length), body);
}

export const rlpIndex = (i) => rlp(i === 0 ? new Uint8Array() : be(i, Math.ceil(i.toString(16).length / 2)));

// Decoding is strict because encoding what was read must give the same bytes.
export function unrlp(bytes) {
  const r = new Reader(bytes), v = rlpItem(r, 0);
  r.end();
  check(equal(rlp(v), bytes), 'RLP is not in its shortest form');
  return v;
}

function rlpItem(r, depth) {
  const b = r.byte();
  if (b < 128) return Uint8Array.of(b);
  const base = b < 192 ? 128 : 192, short = b - base;
  const length = short < 56 ? short : Number(r.uint(short - 55)), body = r.take(length);
  if (base === 128) return body;
  check(depth < 8, 'RLP nested too deep');
  const inner = new Reader(body), list = [];
  while (inner.at < body.length) list.push(rlpItem(inner, depth + 1));
  return list;
}

const nibbles = (b) => [...b].flatMap((x) => [x >> 4, x & 15]);

// Hex-prefix encoding of the path of a leaf or of an extension, and back.
function packPath(path, leaf) {
  const odd = path.length & 1, full = [(leaf ? 2 : 0) + odd, ...(odd ? [] : [0]), ...path];
  return Uint8Array.from({ length: full.length / 2 }, (_, i) => full[2 * i] << 4 | full[2 * i + 1]);
}

function unpackPath(bytes) {
  const all = nibbles(bytes), leaf = all[0] >= 2, path = all.slice(all[0] & 1 ? 1 : 2);
  check(equal(packPath(path, leaf), bytes), 'path of a node is not in its one spelling');
  return { leaf, path };
}

// trieValue follows a proof from the root to the value of the key; every node must be used.
export function trieValue(root, key, proof) {
  let path = nibbles(key), ref = root, i = 0;
  for (;;) {
    let node = ref;
    if (ref instanceof Uint8Array) {
      check(ref.length === 32 && i < proof.length, 'proof ends early, or the key is not in the trie');
      check(equal(keccak(proof[i]), ref), () => `node ${i} of the proof has another hash`);
      check(i === 0 || proof[i].length >= 32, 'a node that should be inside of its parent');
      node = unrlp(proof[i++]);
    }
    check(Array.isArray(node) && (node.length === 17 || node.length === 2), 'not a node of a trie');
    if (node.length === 17) {
      if (path.length === 0) { ref = node[16]; break; }
      ref = node[path.shift()];
    } else {
      check(node[0] instanceof Uint8Array, 'path of a node is a list');
      const { leaf, path: part } = unpackPath(node[0]);
      check(part.every((x, j) => x === path[j]) && (!leaf || part.length === path.length), 'the proof is of another key');
      path = path.slice(part.length);
      ref = node[1];
      if (leaf) break;
    }
  }
  check(ref instanceof Uint8Array && ref.length > 0, 'no value at the key');
  check(i === proof.length, 'nodes behind the proof');
  return ref;
}

// listRoot is the root of the trie that holds value i at the key RLP(i).
export function listRoot(values) {
  return keccak(rlp(build(values.map((v, i) => [nibbles(rlpIndex(i)), v]), 0)));
}

function build(items, depth) {
  if (items.length === 0) return new Uint8Array();
  const [path, value] = items[0];
  if (items.length === 1) return [packPath(path.slice(depth), true), value];
  let d = depth;
  while (items.every(([p]) => d < p.length && p[d] === path[d])) d++;
  if (d > depth) return [packPath(path.slice(depth, d), false), reference(build(items, d))];
  const children = Array.from({ length: 16 }, (_, n) => reference(build(items.filter(([p]) => p[d] === n), d + 1)));
  const here = items.find(([p]) => p.length === d);
  return [...children, here ? here[1] : new Uint8Array()];
}

// A node stands in its parent as its hash, unless it is shorter than one.
function reference(node) {
  const bytes = rlp(node);
  return bytes.length < 32 ? node : keccak(bytes);
}

// ---- BLS12-381, signatures in G1 and keys in G2.

const suite = 'BLS12381G1_XMD:SHA-256_SSWU_RO_POP_';
export const SIG = 'BLS_SIG_' + suite, POP = 'BLS_POP_' + suite;
const { G1, G2, shortSignatures } = bls12_381;

// The point of 48 or 96 bytes: on the curve, of prime order, not the identity, in its one spelling.
export function point(bytes) {
  const group = bytes.length === 48 ? G1 : G2;
  check(bytes.length === 48 || bytes.length === 96, 'not the length of a point');
  const p = group.Point.fromBytes(bytes);
  check(!p.is0(), 'the identity');
  p.assertValidity();
  check(p.isTorsionFree(), 'outside of the subgroup');
  check(equal(p.toBytes(true), bytes), 'another spelling of a point');
  return p;
}

export function verifyBLS(key, message, signature, dst, what) {
  let s;
  try { s = point(signature); } catch (e) { throw new Error(`${what}: ${e.message}`); }
  check(shortSignatures.verify(s, shortSignatures.hash(message, dst), key), `${what} does not hold`);
}

export const inNamespace = (namespace, message) => concat(uvarint(namespace.length), namespace, message);
