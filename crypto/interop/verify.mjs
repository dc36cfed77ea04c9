// A verifier of the Cowboy chain, written from its documents alone.
//   node verify.mjs URL [--blocks 300] [--from HEIGHT] [--genesis genesis.json]
//   node verify.mjs --self-test URL [--from HEIGHT]
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ascii, be, check, concat, decode, encode, equal, hex, inNamespace, keccak, listRoot, point, POP, Reader,
  rlpIndex, SIG, trieValue, unhex, utf8, uvarint, verifyBLS } from './codec.mjs';

const MAX_ANSWER = 32 << 20;   // bytes of one answer
const MAX_DESCENDANTS = 256;   // headers from a block to the one that its certificate is for
export const count = { bls: 0, certificates: 0, txs: 0, several: 0, leader: 0, notLeader: 0, openLeader: 0 };

function bls(...args) { count.bls++; verifyBLS(...args); }

// ---- Asking the node. It is told to wait where it says so, and read no further than MAX_ANSWER.

export async function ask(url, path) {
  for (let tries = 0; ; tries++) {
    const res = await fetch(url + path, { redirect: 'error', signal: AbortSignal.timeout(30_000) });
    const chunks = [];
    let size = 0;
    for await (const chunk of res.body) {
      check((size += chunk.length) <= MAX_ANSWER, `${path}: the answer is too long`);
      chunks.push(chunk);
    }
    const text = utf8(concat(...chunks));
    if (res.status === 200) return text;
    check([429, 503].includes(res.status) && tries < 60, `${path}: ${res.status} ${text.slice(0, 200)}`);
    await new Promise((r) => setTimeout(r, 1000 * Math.min(10, Number(res.headers.get('retry-after')) || 1)));
  }
}

// ---- The genesis.

function jsonToCBOR(v) {
  if (typeof v === 'number') { check(Number.isSafeInteger(v) && v >= 0, 'genesis: a number that is none'); return BigInt(v); }
  if (typeof v === 'string' || typeof v === 'boolean') return v;
  if (Array.isArray(v)) return v.map(jsonToCBOR);
  check(v !== null, 'genesis: a null');
  return new Map(Object.entries(v).map(([k, x]) => [k, jsonToCBOR(x)]));
}

export function readGenesis(text) {
  const doc = JSON.parse(text), hash = keccak(ascii('cowboy-genesis-v1'), encode(jsonToCBOR(doc)));
  const name = (suffix) => concat(ascii('cowboy-simplex-v1'), hash, ascii(suffix));
  check(doc.validators.length > 0, 'genesis: no validators');
  const validators = doc.validators.map((v, i) => {
    const peer = unhex(v.peer_key, 32), bytes = unhex(v.bls_key, 96), key = point(bytes);
    check(i === 0 || doc.validators[i - 1].peer_key < v.peer_key, 'genesis: validators out of order');
    bls(key, bytes, unhex(v.bls_possession, 48), POP, `proof of possession of validator ${i}`);
    check(/^(0|[1-9][0-9]*)$/.test(v.stake), 'genesis: a stake that is no amount');
    return { peer, key, stake: BigInt(v.stake) };
  });
  return {
    hash, chainId: doc.chain_id, beacon: unhex(doc.beacon, 32), groupKey: point(unhex(doc.group_key, 96)), validators,
    names: { 1: name('_NOTARIZE'), 2: name('_NULLIFY'), 3: name('_FINALIZE'), seed: name('_SEED'), order: name('_ORDER') },
    seen: new Set(),  // certificates that were found to be good
  };
}

// ---- Headers and certificates.

const byteString = (min, max = min) => (v) => v instanceof Uint8Array && v.length >= min && v.length <= max;
const integer = (v) => typeof v === 'bigint' && v >= 0n;
const fourPairs = (v) => Array.isArray(v) && v.length === 4 && v.every((p) => Array.isArray(p) && p.length === 2 && p.every(integer));
const FORM = {
  version: (v) => v === 1n, parent: byteString(32), height: integer, epoch: integer, view: integer, parent_epoch: integer,
  parent_view: integer, parent_seed: byteString(48), timestamp_ms: integer, proposer: byteString(32), tx_root: byteString(32),
  body_root: byteString(32), receipts_root: byteString(32), state_root: byteString(32), base_fees: fourPairs, used: fourPairs,
  presence_input: byteString(0, 262_150), consumed_seeds: byteString(0, 65_536), order_proof: byteString(48),
};

export function readHeader(bytes) {
  const items = decode(bytes), names = Object.keys(FORM), h = { bytes, digest: keccak(ascii('cowboy-block-v1'), bytes) };
  check(Array.isArray(items) && items.length === names.length, 'header: not an array of 19');
  names.forEach((name, i) => { check(FORM[name](items[i]), `header: ${name} has another form`); h[name] = items[i]; });
  check(equal(writeHeader(h), bytes), 'header: encodes to other bytes');
  return h;
}

export const writeHeader = (h) => encode(Object.keys(FORM).map((name) => h[name]));

const round = (epoch, view) => concat(uvarint(epoch), uvarint(view));

export function readCertificate(bytes) {
  const r = new Reader(bytes), c = { bytes };
  check(r.byte() === 0x63, 'certificate: no letter c');
  c.kind = r.byte();
  check(c.kind >= 1 && c.kind <= 3, 'certificate: unknown kind');
  c.epoch = r.uvarint();
  c.view = r.uvarint();
  if (c.kind !== 2) { c.parent_view = r.uvarint(); c.digest = r.take(32); }
  c.signature = r.take(48);
  c.seed = r.take(48);
  r.end();
  return c;
}

// checkFinal: the certificate says that the block of the header is final.
export function checkFinal(g, h, c) {
  check(c.kind === 3, 'certificate: not a finalization');
  check(equal(c.digest, h.digest) && c.epoch === h.epoch && c.view === h.view && c.parent_view === h.parent_view,
    'certificate: for another block');
  if (g.seen.has(hex(c.bytes))) return;
  const proposal = concat(round(c.epoch, c.view), uvarint(c.parent_view), c.digest);
  bls(g.groupKey, inNamespace(g.names[3], proposal), c.signature, SIG, 'signature of the certificate');
  checkSeed(g, h, c.seed);
  g.seen.add(hex(c.bytes));
  count.certificates++;
}

function checkSeed(g, h, seed) {
  bls(g.groupKey, inNamespace(g.names.seed, round(h.epoch, h.view)), seed, SIG, `seed of the round of block ${h.height}`);
}

// checkAnswer checks what all answers of /proof begin with, and that their block is final.
export function checkAnswer(g, doc, kind) {
  check(doc.kind === kind && doc.chain_id === g.chainId && doc.genesis === hex(g.hash), 'answer: of another kind or chain');
  const h = readHeader(unhex(doc.header)), c = readCertificate(unhex(doc.certificate));
  check(BigInt(doc.height) === h.height && doc.block_hash === hex(h.digest), 'answer: does not repeat its header');
  check(doc.descendants.length <= MAX_DESCENDANTS, 'answer: too many descendants');
  let last = h;
  for (const d of doc.descendants.map((x) => readHeader(unhex(x)))) { checkChild(last, d); last = d; }
  checkFinal(g, last, c);
  // The seed of the block's own round is known if the certificate is its own.
  return { ...h, seed: last === h ? c.seed : null, descendants: doc.descendants.length };
}

function checkChild(parent, h) {
  check(equal(h.parent, parent.digest) && h.height === parent.height + 1n, `block ${h.height}: does not follow the one before`);
}

// ---- The chain: parents, their rounds and seeds. The parent of block 1 is null.

export function beaconOf(g, epoch, view, seed) {
  if (seed === null) return g.beacon;
  return keccak(ascii('cowboy-beacon-hash-v1'), Uint8Array.of(1), be(epoch, 8), be(view, 8), be(48, 2), seed);
}

export function checkLink(g, parent, h) {
  check(h.epoch === 0n, `block ${h.height}: not of epoch 0`);
  checkChild(parent ?? { digest: g.hash, height: 0n }, h);
  const [epoch, view] = parent ? [parent.epoch, parent.view] : [0n, 0n];
  check(h.parent_epoch === epoch && h.parent_view === view && h.view > view, `block ${h.height}: wrong round of the parent`);
  check(!parent || h.timestamp_ms > parent.timestamp_ms, `block ${h.height}: not after its parent`);
  if (!parent) check(equal(h.parent_seed, new Uint8Array(48)), 'block 1: parent seed is not zeros');
  else if (parent.seed) check(equal(h.parent_seed, parent.seed), `block ${h.height}: not the seed of the parent's certificate`);
  else checkSeed(g, parent, h.parent_seed);
  return beaconOf(g, epoch, view, parent ? h.parent_seed : null);
}

// ---- The leader. Only of a view right behind the parent's are all seeds in the chain. Behind one view
// that was nullified, it is at least not the leader of that view.

export function draw(domain, beacon, validators) {
  const total = validators.reduce((sum, v) => sum + v.stake, 0n);
  if (total === 0n) return null;
  const x = BigInt(hex(keccak(ascii(domain), beacon))) % total;
  let sum = 0n;
  return validators.find((v) => (sum += v.stake) > x);
}

export function checkLeader(g, h, beacon) {
  const drawn = draw('cowboy-leader-v1', beacon, g.validators), gap = h.view - h.parent_view;
  const others = g.validators.some((v) => v !== drawn && v.stake > 0n);
  if (gap === 1n || !others) {
    check(equal(h.proposer, drawn.peer), `block ${h.height}: not of the leader of its round`);
    count.leader++;
  } else if (gap === 2n) {
    check(!equal(h.proposer, drawn.peer), `block ${h.height}: of the leader that was just passed over`);
    count.notLeader++;
  } else count.openLeader++;
}

// ---- Transactions.

const LANES = ['system', 'runner', 'user'];
const OPCODES = { system: { 0x09: [45, 46, 47], 0x17: [91, 92, 93, 94] }, runner: { 0x01: [2, 90, 101], 0x03: [7, 8, 9] } };

function laneOf(to, payload) {
  if (to === null || to.subarray(0, 18).some((b) => b)) return 'user';
  const actor = to[18] << 8 | to[19];
  const lane = Object.keys(OPCODES).find((l) => OPCODES[l][actor]);
  return lane && OPCODES[lane][actor].includes(Number(decode(payload)[0])) ? lane : 'user';
}

const ascending = (list) => list.every((x, i) => i === 0 || Buffer.compare(list[i - 1], x) < 0);
const accessEntry = (e) => Array.isArray(e) && e.length === 2 && byteString(20)(e[0]) && Array.isArray(e[1]) && e[1].every(byteString(32)) && ascending(e[1]);

export function readTransaction(g, body) {
  check(body.length <= 131_072, 'transaction: too long');
  const tx = decode(body);
  check(Array.isArray(tx) && tx.length === 13 && equal(encode(tx), body), 'transaction: not an array of 13 fields');
  const [chain, nonce, to, , , , , , , , access, payload, signature] = tx;
  check([0, 1, 3, 4, 5, 6, 7, 8, 9].every((i) => integer(tx[i])) && chain === BigInt(g.chainId), 'transaction: of another chain or form');
  check((to === null || byteString(20)(to)) && byteString(0, 131_072)(payload), 'transaction: target or payload');
  check(access === null || (Array.isArray(access) && access.length <= 256 && access.every(accessEntry) &&
    ascending(access.map((e) => e[0])) && access.flatMap((e) => e[1]).length <= 1024), 'transaction: access list');
  check(Array.isArray(signature) && signature.length === 3 && [0n, 1n].includes(signature[0]) &&
    signature.slice(1).every(byteString(32)), 'transaction: signature');
  const [r, s] = signature.slice(1).map((b) => BigInt(hex(b))), n = secp256k1.Point.Fn.ORDER;
  check(r > 0n && r < n && s > 0n && s <= n / 2n, 'transaction: signature out of range');
  const signed = keccak(encode([...tx.slice(0, 12), null]));
  const key = new secp256k1.Signature(r, s).addRecoveryBit(Number(signature[0])).recoverPublicKey(signed);
  return { hash: keccak(body), nonce, sender: keccak(key.toBytes(false).subarray(1)).subarray(12), lane: laneOf(to, payload) };
}

// checkOrder: the proposer's proof, and that the transactions stand as it says.
export function checkOrder(g, h, beacon, txs) {
  const proposer = g.validators.find((v) => equal(v.peer, h.proposer));
  check(proposer, `block ${h.height}: proposer is no validator`);
  bls(proposer.key, inNamespace(g.names.order, concat(be(h.height, 8), beacon)), h.order_proof, SIG, 'order proof');
  const vrf = keccak(h.order_proof), keyed = txs.map((tx) => ({ ...tx, key: keccak(vrf, tx.hash) }));
  const expected = LANES.flatMap((lane) => {
    const byKey = keyed.filter((tx) => tx.lane === lane).sort((a, b) => Buffer.compare(a.key, b.key));
    // Each sender's transactions by nonce. The sort is stable: those of one nonce stay in the order of their keys.
    const queues = {};
    for (const tx of byKey) (queues[hex(tx.sender)] ??= []).push(tx);
    for (const q of Object.values(queues)) q.sort((a, b) => (a.nonce < b.nonce ? -1 : Number(a.nonce > b.nonce)));
    return byKey.map((tx) => queues[hex(tx.sender)].shift());
  });
  check(keyed.every((tx, i) => tx === expected[i]), `block ${h.height}: the transactions are in another order`);
  return keyed;
}

// checkTransaction: an answer with a body and the proof that it stands at its index in the trie of the block.
export function checkTransaction(g, h, doc, index) {
  check(equal(checkAnswer(g, doc, 'transaction').digest, h.digest), 'transaction proof: of another header');
  const body = unhex(doc.value), key = rlpIndex(index);
  check(doc.index === index && doc.key === hex(key) && doc.root === hex(h.tx_root), 'transaction proof: index, key or root');
  check(equal(trieValue(h.tx_root, key, doc.proof.map((n) => unhex(n))), body), 'transaction proof: another value in the trie');
  check(doc.tx_hash === hex(keccak(body)), 'transaction proof: another hash');
  return body;
}

// checkBody: the bodies are all of the block, and the list that the node shows is theirs.
export function checkBody(g, h, beacon, block, bodies) {
  check(equal(listRoot(bodies), h.tx_root), `block ${h.height}: the bodies have another root`);
  const txs = checkOrder(g, h, beacon, bodies.map((b) => readTransaction(g, b)));
  check(block.hash === hex(h.digest) && block.tx_count === txs.length && block.transactions.length === txs.length,
    `block ${h.height}: /block shows another`);
  for (const [name, v] of Object.entries(h)) {
    if (name in block && !Array.isArray(v)) check(String(block[name]) === (typeof v === 'bigint' ? String(v) : hex(v)), `block ${h.height}: /block shows ${name} otherwise`);
  }
  txs.forEach((tx, i) => {
    const t = block.transactions[i];
    check(t.hash === hex(tx.hash) && t.sender === hex(tx.sender) && BigInt(t.nonce) === tx.nonce && t.lane === tx.lane &&
      t.order_key === hex(tx.key) && t.slot === i, `block ${h.height}: /block shows transaction ${i} otherwise`);
  });
  count.txs += txs.length;
  if (new Set(txs.map((tx) => hex(tx.sender))).size > 1) count.several++;
}

// ---- The run.

export const header = async (g, url, height) => {
  const h = checkAnswer(g, JSON.parse(await ask(url, `/proof/header/${height}`)), 'header');
  check(h.height === BigInt(height), `asked for block ${height}, got ${h.height}`);
  return h;
};

// fetchBody gets the list of a block, all its bodies, and the proof of one of its transactions.
export async function fetchBody(url, h) {
  const block = JSON.parse(await ask(url, `/block/${h.height}`)), bodies = [], n = block.transactions.length;
  for (const t of block.transactions) bodies.push(unhex(JSON.parse(await ask(url, `/transaction/${t.hash}`)).raw));
  const index = n && Number(h.height) % n;
  return { block, bodies, index, proof: n ? JSON.parse(await ask(url, `/proof/tx/${block.transactions[index].hash}`)) : null };
}

async function main(url, options) {
  const started = Date.now();
  const g = readGenesis(options.genesis ? readFileSync(options.genesis, 'utf8') : await ask(url, '/genesis'));
  const latest = JSON.parse(await ask(url, '/height')).height;
  const blocks = Math.min(Number(options.blocks ?? 300), latest), from = Number(options.from ?? latest - blocks + 1);
  const to = Math.min(latest, from + blocks - 1);
  check(blocks >= 1 && from >= 1 && to >= from, `nothing to verify: the node is at height ${latest}`);
  let parent = from > 1 ? await header(g, url, from - 1) : null, gaps = 0, withDescendants = 0;
  for (let height = from; height <= to; height++) {
    try {
      const h = await header(g, url, height), beacon = checkLink(g, parent, h);
      checkLeader(g, h, beacon);
      const { block, bodies, index, proof } = await fetchBody(url, h);
      if (proof) checkTransaction(g, h, proof, index);
      checkBody(g, h, beacon, block, bodies);
      gaps += h.view > h.parent_view + 1n;
      withDescendants += h.descendants > 0;
      parent = h;
    } catch (e) { throw new Error(`at height ${height}: ${e.message}`); }
  }
  console.log(`ok: genesis ${hex(g.hash)}, blocks ${from} to ${to} (${to - from + 1}), ${g.validators.length} validators, ` +
    `${count.txs} transactions (${count.several} blocks of several senders), ${count.certificates} certificates, ` +
    `${withDescendants} blocks final by descendants, ${gaps} behind nullified views, leaders: ${count.leader} drawn, ` +
    `${count.notLeader} excluded, ${count.openLeader} open, ${count.bls} BLS signatures, ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

async function cli(args) {
  const options = {}, selfTest = args.includes('--self-test');
  args = args.filter((a) => a !== '--self-test');
  for (let i; (i = args.findIndex((a) => a.startsWith('--'))) >= 0;) { const [k, v] = args.splice(i, 2); options[k.slice(2)] = v; }
  check(/^https?:\/\//.test(args[0] ?? ''), 'usage: node verify.mjs [--self-test] URL [--blocks N] [--from HEIGHT] [--genesis FILE]');
  const run = selfTest ? (await import('./selftest.mjs')).selfTest : main;
  await run(args[0].replace(/\/$/, ''), options);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  cli(process.argv.slice(2)).catch((e) => { console.error(`REFUSED: ${e.message}`); process.exitCode = 1; });
}
