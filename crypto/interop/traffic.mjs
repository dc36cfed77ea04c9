// Makes traffic on a devnet for the verifier: transfers of several senders with memos and several nonces a
// block, registrations of runners, and their heartbeats, which are of another lane.
//   node traffic.mjs URL [SECONDS]
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ascii, be, concat, encode, hex, keccak } from './codec.mjs';

const [url, seconds] = [process.argv[2], Number(process.argv[3] ?? 20)];

async function answer(res) {
  const text = await res.text();
  if (!res.ok) throw new Error(`${res.url}: ${res.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

const { chain_id } = await answer(await fetch(`${url}/basefee`));
const accounts = [];
for (let i = 0; i < 5; i++) { // as many as the faucet pays in a minute
  const key = keccak(ascii(`cowboy interop sender ${i}`));
  const address = keccak(secp256k1.getPublicKey(key, false).slice(1)).slice(12);
  await answer(await fetch(`${url}/faucet`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ address: hex(address) }) }));
  accounts.push({ key, address, nonce: 0n });
}
for (const a of accounts) {
  for (let tries = 0; ; tries++) { // the faucet pays by a transaction
    const { nonce, balance } = await answer(await fetch(`${url}/account/${hex(a.address)}`));
    if (BigInt(balance) > 0n) { a.nonce = BigInt(nonce); break; }
    if (tries === 100) throw new Error('the faucet did not pay');
    await new Promise((r) => setTimeout(r, 200));
  }
}

// runner_register: no largest job, a rate card without prices, capabilities for no kind of job, no attestation and
// no address.
const numbers = (...values) => new Map(values.map((v, i) => [BigInt(i), v]));
const registration = encode([1n, 0n, numbers(0n, 0n, 0n, 0n, 0n, [], 0n, 0n), numbers([], null, [], [], 1n), null, '']);

let made = 0;
function transaction() {
  const a = accounts[made % accounts.length], to = new Uint8Array(20), fields = [BigInt(chain_id), a.nonce++];
  to[19] = 1; // the registry of runners
  if (!a.runner) {
    a.runner = true;
    fields.push(to, 100_000_000_000n, 1_000_000n, 20_000n, 1_000n, 1_000n, 0n, 0n, null, registration);
  } else if (made++ % 4 === 3) {
    fields.push(to, 0n, 5_000n, 2n, 1_000n, 1_000n, 0n, 0n, null, encode([2n])); // runner_heartbeat
  } else {
    fields.push(accounts[(made * 7) % accounts.length].address, BigInt(made), 21_000n, 2_000n, 1_000n, 1_000n, BigInt(made % 3), 0n,
      null, new Uint8Array((made * 37) % 300).fill(made & 0xff));
  }
  const sig = secp256k1.sign(keccak(encode([...fields, null])), a.key, { prehash: false, format: 'recovered' });
  return encode([...fields, [BigInt(sig[0]), sig.slice(1, 33), sig.slice(33)]]);
}

for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
  const list = Array.from({ length: 1 + made % 9 }, transaction);
  const verdicts = await answer(await fetch(`${url}/submit`, {
    method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: concat(...list.flatMap((t) => [be(t.length, 4), t])),
  }));
  const refused = JSON.stringify(verdicts).match(/"code":4\d\d\d[^}]*/);
  if (refused) throw new Error(`refused: ${refused[0]}`);
  await new Promise((r) => setTimeout(r, 300));
}
console.log(`traffic: ${made} transactions of ${accounts.length} senders`);
