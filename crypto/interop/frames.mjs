// Encodes the frames of the runner link (CIP-11 §12.1) from their fields in
// runner/wire/testdata/frames.json, and compares length prefix, type and body with the bytes
// that stand there.
import { readFileSync } from 'node:fs';
import { be, check, concat, encode, hex } from './codec.mjs';

const file = new URL('../../runner/wire/testdata/frames.json', import.meta.url);

// item makes of a value of the file what the encoder takes: {"bytes": hex} a byte string,
// {"map": {…}} a map with numbers as keys, another object one with texts as keys.
function item(v) {
  if (typeof v === 'number') return BigInt(v);
  if (v === null || typeof v !== 'object') return v;
  if (Array.isArray(v)) return v.map(item);
  const keys = Object.keys(v);
  if (keys.length === 1 && typeof v.bytes === 'string') return new Uint8Array(Buffer.from(v.bytes, 'hex'));
  if (keys.length === 1 && v.map) return new Map(Object.entries(v.map).map(([k, x]) => [BigInt(k), item(x)]));
  return new Map(Object.entries(v).map(([k, x]) => [k, item(x)]));
}

const frames = JSON.parse(readFileSync(file, 'utf8'));
check(frames.length >= 13, 'frames are missing');
for (const { name, type, body, bytes } of frames) {
  const encoded = encode(item(body));
  const frame = hex(concat(be(encoded.length + 1, 4), Uint8Array.of(type), encoded));
  check(frame === '0x' + bytes, () => `${name} is\n${frame}, not\n0x${bytes}`);
}
console.log(`${frames.length} frames of the runner link are the same`);
