// The negative half: real answers of a node with something wrong in them, each of which must be refused.
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { check, concat, decode, encode, equal, hex, keccak, Reader, rlpIndex, trieValue, unhex, unrlp } from './codec.mjs';
import { ask, checkAnswer, checkBody, checkLeader, checkLink, checkOrder, checkTransaction, fetchBody, readCertificate, readGenesis,
  readHeader, readTransaction, writeHeader } from './verify.mjs';

const join = (...parts) => concat(...parts.map((p) => Uint8Array.from(p)));

export async function selfTest(url, options) {
  let refused = 0, held = 0;
  const reasons = new Set();
  const refuse = (what, f) => {
    let error;
    try { f(); } catch (e) { error = e; }
    check(error, `self-test: accepted ${what}`);
    check(!(error instanceof TypeError) && !(error instanceof RangeError), () => `self-test: ${what}: ${error.stack}`);
    reasons.add(error.message.replace(/[0-9]+/g, '#'));
    refused++;
  };
  const hold = (what, f) => {
    try { held++; return f(); } catch (e) { throw new Error(`self-test: refused ${what}: ${e.message}`); }
  };
  const flip = (bytes, at) => { const b = Uint8Array.from(bytes); b[at] ^= 1 << at % 8; return b; };
  const eachFlip = (what, bytes, f) => bytes.forEach((_, at) => refuse(`${what} with another byte ${at}`, () => f(flip(bytes, at))));
  const get = async (path) => JSON.parse(await ask(url, path));

  // Encodings with a second spelling.
  for (const s of ['1800', '1817', '190018', '1a0000ffff', '1b00000000ffffffff', '1c', '1f', '5800', '5f40ff', '4201', '7f60ff', '61ff', '9f00ff', '8100ff',
    '9800', '82', 'a2616200616100', 'a2616100616100', 'a262616100616200', 'bf616100ff', 'c100', 'd8402a', 'f7', 'f0', 'f814', 'f93c00', 'fb3ff0000000000000', '', '0000',
    '9bffffffffffffffff', '5bffffffffffffffff', '81'.repeat(70) + '00']) refuse(`CBOR ${s}`, () => decode(unhex('0x' + s)));
  for (const s of ['00', '17', '1818', '1b00000001ffffffff', '20', 'f4', 'a261620062616100', '8301820203820405']) hold(`CBOR ${s}`, () => check(equal(encode(decode(unhex('0x' + s))), unhex('0x' + s)), 'bytes'));
  for (const s of ['8000', '808000', 'ffffffffffffffffff02', '80808080808080808080' + '01', '80']) refuse(`uvarint ${s}`, () => { const r = new Reader(unhex('0x' + s)); r.uvarint(); r.end(); });
  for (const s of ['8101', 'b80100', 'c20102' + '00', 'f800', 'b90001' + '00', '8401', '']) refuse(`RLP ${s}`, () => unrlp(unhex('0x' + s)));

  // The genesis.
  const text = await ask(url, '/genesis'), g = readGenesis(text), genesis = () => JSON.parse(text);
  const changed = (f) => { const d = genesis(); f(d); return JSON.stringify(d); };
  hold('a genesis with its members in another order', () => check(equal(readGenesis(JSON.stringify(Object.fromEntries(Object.entries(genesis()).reverse()), null, 2)).hash, g.hash), 'hash'));
  for (const f of [(d) => d.chain_id++, (d) => { d.name += ' '; }, (d) => { d.params.new = 0; }, (d) => { d.beacon = hex(flip(unhex(d.beacon), 3)); }])
    refuse('a genesis of another chain', () => check(equal(readGenesis(changed(f)).hash, g.hash), 'another genesis hash'));
  for (const f of [(d) => { d.validators[0].bls_possession = d.validators[0].bls_possession.replace('0x', '0X'); }, (d) => { d.params.x = null; }, (d) => { d.params.x = 1.5; },
    (d) => { d.params.x = -1; }, (d) => { d.validators.push(d.validators[0]); }, (d) => { d.group_key = '0x' + 'c0' + '00'.repeat(95); }, (d) => { d.validators[0].bls_key = d.group_key.slice(0, -2); }])
    refuse('a bad genesis', () => readGenesis(changed(f)));
  eachFlip('proof of possession', unhex(genesis().validators[0].bls_possession), (b) => readGenesis(changed((d) => { d.validators[0].bls_possession = hex(b); })));
  refuse('possession of another key', () => readGenesis(changed((d) => { d.validators[0].bls_key = hex(bls12_381.G2.Point.BASE.toBytes()); })));

  // The block with the most transactions among the last ones, its parent and its child.
  const { blocks } = await get('/blocks?limit=50&offset=2');
  const height = Number(options.from ?? blocks.reduce((a, b) => (b.tx_count > a.tx_count ? b : a)).height);
  const docs = [];
  for (let i = -1; i <= 2; i++) docs.push(await get(`/proof/header/${height + i}`));
  const [parent, h, child] = docs.slice(0, 3).map((d) => hold('an answer', () => checkAnswer(g, d, 'header')));
  const [, own, childDoc, grandchild] = docs;
  const beacon = hold('a link', () => checkLink(g, parent, h));
  const answer = (change) => () => checkAnswer(g, { ...own, ...change }, 'header');

  // Headers. Their spelling, then every byte, with and without the block hash that fits.
  eachFlip('header', h.bytes, (b) => answer({ header: hex(b) })());
  eachFlip('header with its hash', h.bytes, (b) => answer({ header: hex(b), block_hash: hex(readHeader(b).digest) })());
  for (let n = 0; n < h.bytes.length; n++) refuse('a header cut off', () => readHeader(h.bytes.slice(0, n)));
  const rest = h.bytes.slice(1);
  for (const b of [join(h.bytes, [0]), join([0x98, 0x13], rest), join([0x9f], rest, [0xff]), join([0x93, 0x18], rest), join([0xc1], h.bytes), join([0x92], rest.slice(1)), join([0x94], rest, [0])])
    refuse('a header in another spelling', () => readHeader(b));
  for (const [k, v] of [['version', 2n], ['parent', new Uint8Array(31)], ['parent_seed', new Uint8Array(47)], ['height', -1n], ['base_fees', h.base_fees.slice(1)], ['used', [...h.used.slice(1), [0n]]],
    ['presence_input', new Uint8Array(262151)], ['consumed_seeds', new Uint8Array(65537)], ['order_proof', null]]) refuse(`a header with another ${k}`, () => readHeader(writeHeader({ ...h, [k]: v })));
  for (const change of [{ kind: 'account' }, { chain_id: g.chainId + 1 }, { genesis: hex(h.digest) }, { height: height + 1 }, { block_hash: hex(parent.digest) },
    { header: own.header.toUpperCase() }, { header: own.header.slice(2) }]) refuse('an answer with another field', answer(change));

  // Certificates.
  const cert = readCertificate(unhex(own.certificate)), points = cert.bytes.length - 96, start = cert.bytes.slice(0, points);
  eachFlip('certificate', cert.bytes, (b) => answer({ certificate: hex(b) })());
  for (let n = 0; n < cert.bytes.length; n++) refuse('a certificate cut off', () => readCertificate(cert.bytes.slice(0, n)));
  const infinity = join([0xc0], new Uint8Array(47)), P = bls12_381.G1.Point;
  const negated = (b) => P.fromBytes(b).negate().toBytes();
  const outside = (() => {  // a point of the curve y² = x³ + 4 outside of the subgroup
    const Fp = bls12_381.fields.Fp;
    for (let x = 1n; ; x++) {
      let y;
      try { y = Fp.sqrt(Fp.add(Fp.pow(x, 3n), 4n)); } catch { continue; }
      if (P.fromAffine({ x, y }).isTorsionFree()) continue;
      const b = Uint8Array.from(infinity);
      b[0] = 0x80;
      b[47] = Number(x);
      return b;
    }
  })();
  const spelled = (b) => { const x = BigInt(hex(b)) & ((1n << 381n) - 1n); return unhex('0x' + (x + bls12_381.fields.Fp.ORDER).toString(16).padStart(96, '0')); };
  for (const [what, sig, seed] of [['the signatures swapped', cert.seed, cert.signature], ['the identity', infinity, cert.seed], ['the identity as seed', cert.signature, infinity],
    ['a negated signature', negated(cert.signature), cert.seed], ['a negated seed', cert.signature, negated(cert.seed)], ['a point outside of the subgroup', outside, cert.seed],
    ['a seed outside of the subgroup', cert.signature, outside], ['an x beyond the field', spelled(cert.signature), cert.seed], ['the seed of the parent', cert.signature, parent.seed ?? infinity],
    ['the generator', P.BASE.toBytes(), cert.seed], ['an uncompressed flag', flipTop(cert.signature, 0x80), cert.seed], ['a flag of infinity', flipTop(cert.signature, 0x40), cert.seed]])
    refuse(`a certificate with ${what}`, answer({ certificate: hex(join(start, sig, seed)) }));
  for (const b of [join(cert.bytes, [0]), join([0x63, 1], cert.bytes.slice(2)), join([0x63, 2], cert.bytes.slice(2)), join([0x63, 2], start.slice(2, -33), cert.bytes.slice(-96)),
    join([0x63, 3, 0x80, 0], cert.bytes.slice(3)), unhex(childDoc.certificate), unhex(docs[0].certificate)]) refuse('another certificate', answer({ certificate: hex(b) }));

  // Descendants.
  const throughChild = hold('a block final by its child', answer({ descendants: [childDoc.header], certificate: childDoc.certificate }));
  hold('a block final by its grandchild', answer({ descendants: [childDoc.header, grandchild.header], certificate: grandchild.certificate }));
  for (const [descendants, certificate] of [[[grandchild.header], grandchild.certificate], [[grandchild.header, childDoc.header], childDoc.certificate], [[own.header], own.certificate],
    [[childDoc.header], own.certificate], [[], childDoc.certificate], [[docs[0].header], docs[0].certificate], [[childDoc.header, grandchild.header], childDoc.certificate]])
    refuse('other descendants', answer({ descendants, certificate }));
  eachFlip('descendant', child.bytes, (b) => answer({ descendants: [hex(b)], certificate: childDoc.certificate })());

  // Parents, rounds and seeds, with the parent's seed known and unknown.
  hold('a link to a parent without its own certificate', () => checkLink(g, throughChild, child));
  eachFlip('parent seed', child.parent_seed, (b) => checkLink(g, h, { ...child, parent_seed: b }));
  eachFlip('parent seed without certificate', child.parent_seed, (b) => checkLink(g, throughChild, { ...child, parent_seed: b }));
  eachFlip('parent', child.parent, (b) => checkLink(g, h, { ...child, parent: b }));
  refuse('the seed of another round', () => checkLink(g, throughChild, { ...child, parent_seed: h.parent_seed }));
  for (const change of [{ height: child.height + 1n }, { parent_view: child.parent_view + 1n }, { parent_epoch: 1n }, { epoch: 1n }, { timestamp_ms: h.timestamp_ms }, { view: h.view }])
    refuse('a link', () => checkLink(g, h, { ...child, ...change }));
  refuse('a grandchild as child', () => checkLink(g, parent, child));
  refuse('another block after the genesis', () => checkLink(g, null, h));
  for (const v of g.validators) if (!equal(v.peer, h.proposer) && h.view === h.parent_view + 1n) refuse('another leader', () => checkLeader(g, { ...h, proposer: v.peer }, beacon));

  // Bodies, their order and its proof.
  const { block, bodies, index, proof } = await fetchBody(url, h), n = bodies.length;
  check(n > 0, `block ${height} has no transactions: name one that has with --from HEIGHT`);
  const txs = bodies.map((b) => readTransaction(g, b));
  hold('a body', () => checkBody(g, h, beacon, block, bodies));
  eachFlip('order proof', h.order_proof, (b) => checkOrder(g, { ...h, order_proof: b }, beacon, txs));
  eachFlip('beacon', beacon, (b) => checkOrder(g, h, b, txs));
  for (const change of [{ height: h.height + 1n }, { order_proof: parent.order_proof }, { order_proof: infinity }, { proposer: h.digest }]) refuse('another order proof', () => checkOrder(g, { ...h, ...change }, beacon, txs));
  for (const v of g.validators) if (!equal(v.peer, h.proposer)) refuse('the order proof under another key', () => checkOrder(g, { ...h, proposer: v.peer }, beacon, txs));
  for (let i = 0; i < n; i++) {
    const without = bodies.toSpliced(i, 1);
    refuse('a body less', () => checkBody(g, h, beacon, block, without));
    refuse('a body twice', () => checkBody(g, h, beacon, block, [...bodies, bodies[i]]));
    for (let j = 0; j < i; j++) refuse(`transactions ${j} and ${i} swapped`, () => checkOrder(g, h, beacon, txs.with(i, txs[j]).with(j, txs[i])));
    for (const change of [{ hash: hex(h.digest) }, { sender: '0x' + '11'.repeat(20) }, { nonce: -1 }, { lane: 'timer' }, { order_key: hex(h.digest) }, { slot: n }])
      refuse('a changed list', () => checkBody(g, h, beacon, { ...block, transactions: block.transactions.with(i, { ...block.transactions[i], ...change }) }, bodies));
  }
  {
    hold('a transaction proof', () => checkTransaction(g, h, proof, index));
    eachFlip('body', bodies[index], (b) => checkBody(g, h, beacon, block, bodies.with(index, b)));
    // Every byte is under the hash, the sender or the strict form: nobody can say the same thing otherwise.
    eachFlip('transaction', bodies[index], (b) => check(equal(readTransaction(g, b).sender, txs[index].sender), 'another sender'));
    const [, , , , , , , , , , , , [y, r, s]] = decode(bodies[index]), order = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');
    const high = unhex('0x' + (order - BigInt(hex(s))).toString(16).padStart(64, '0'));
    for (const sig of [[1n - y, r, high], [1n - y, r, s], [2n, r, s], [y, new Uint8Array(32), s], [y, r, new Uint8Array(32)], null]) refuse('another signature', () =>
      check(equal(readTransaction(g, encode(decode(bodies[index]).with(12, sig))).sender, txs[index].sender), 'another sender'));
    const nodes = proof.proof.map((x) => unhex(x)), key = rlpIndex(index);
    eachFlip('value', unhex(proof.value), (b) => checkTransaction(g, h, { ...proof, value: hex(b) }, index));
    nodes.forEach((node, i) => {
      eachFlip('node', node, (b) => trieValue(h.tx_root, key, nodes.with(i, b)));
      refuse('a node less', () => trieValue(h.tx_root, key, nodes.toSpliced(i, 1)));
      refuse('a node twice', () => trieValue(h.tx_root, key, nodes.toSpliced(i, 0, node)));
    });
    refuse('a node more', () => trieValue(h.tx_root, key, [...nodes, nodes[0]]));
    for (const other of [n, index + 1, 128, 256]) refuse('another key', () => trieValue(h.tx_root, rlpIndex(other), nodes));
    eachFlip('root', h.tx_root, (b) => trieValue(b, key, nodes));
    for (const change of [{ index: index + 1 }, { key: '0x' }, { root: hex(h.state_root) }, { tx_hash: hex(h.digest) }, { header: own.header.replace('0x93', '0x94') }, { kind: 'receipt' }])
      if (JSON.stringify({ ...proof, ...change }) !== JSON.stringify(proof)) refuse('a transaction proof with another field', () => checkTransaction(g, h, { ...proof, ...change }, index));
  }
  console.log(`ok: self-test at block ${height} with ${n} transactions: ${refused} altered answers refused for ${reasons.size} reasons, ${held} good ones held`);
  if (options.reasons) console.log([...reasons].sort().join('\n'));
}

function flipTop(bytes, mask) { const b = Uint8Array.from(bytes); b[0] ^= mask; return b; }
