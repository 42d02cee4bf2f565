import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  createSigner,
  DAY_MS,
  ISSUER,
  MACHINE_ID,
  NOW_MS,
  SIGNER,
  signToken,
} from '../../test/signer.ts';
import { nodeCryptography } from '../node/cryptography.ts';
import { webCryptography, type Cryptography } from './cryptography.ts';
import { joinKeys, readPublicKeys } from './public-keys.ts';
import { verifyToken } from './verify.ts';

const TRUST = {
  keys: [SIGNER.publicKey],
  issuer: ISSUER,
  products: ['personal'],
  machineId: MACHINE_ID,
  nowMs: NOW_MS,
  nonce: null,
};

const other = createSigner();
const named = { alg: 'EdDSA', kid: SIGNER.publicKey.kid, typ: 'entitlement+jwt' };
const token = signToken();

/** Texts with their verdicts, and what differs from the usual circumstances. */
const CASES: readonly (readonly [string, string, string, Partial<typeof TRUST>?])[] = [
  ['an entitlement', token, 'ok'],
  ['text', 'entitlement', 'malformed'],
  ['a cut token', token.split('.').slice(0, 2).join('.'), 'malformed'],
  ['a fourth part', `${token}.x`, 'malformed'],
  ['another type', signToken({}, { header: { ...named, typ: 'JWT' } }), 'malformed'],
  ['a critical extension', signToken({}, { header: { ...named, crit: [] } }), 'malformed'],
  ['a begin that is a text', signToken({ nbf: '0' }), 'malformed'],
  ['alg none', signToken({}, { header: { ...named, alg: 'none' } }), 'algorithm'],
  ['alg HS256', signToken({}, { header: { ...named, alg: 'HS256' } }), 'algorithm'],
  ['an unknown key', signToken({}, { signer: other }), 'unknown_key'],
  ['another key under a known id', signToken({}, { signer: other, header: named }), 'signature'],
  ['another issuer', signToken({ iss: `${ISSUER}/` }), 'issuer'],
  ['another product', signToken({ aud: 'server' }), 'audience'],
  ['a list of products', signToken({ aud: ['personal'] }), 'audience'],
  ['another machine', token, 'machine', { machineId: 'other' }],
  ['an unbound machine', signToken({ machine: null }), 'machine'],
  ['five minutes early', token, 'ok', { nowMs: NOW_MS - 300_000 }],
  ['more than five minutes early', token, 'early', { nowMs: NOW_MS - 300_001 }],
  ['its end', token, 'late', { nowMs: NOW_MS + 14 * DAY_MS }],
];

function describeWith(name: string, cryptography: Cryptography): void {
  describe(name, () => {
    for (const [title, text, verdict, changes] of CASES) {
      test(`${title}: ${verdict}`, async () => {
        const reading = await verifyToken(text, { ...TRUST, ...changes }, cryptography);
        assert.equal(reading.verdict, verdict);
      });
    }
  });
}

describeWith('Web Cryptography', webCryptography);
describeWith('OpenSSL', nodeCryptography);

test('compares the nonce only with that of an open request', async () => {
  const answer = signToken({ nonce: 'a' });
  const verdicts = [null, 'a', 'b'].map(async (nonce) => {
    const { verdict } = await verifyToken(answer, { ...TRUST, nonce }, nodeCryptography);
    return verdict;
  });
  assert.deepEqual(await Promise.all(verdicts), ['ok', 'ok', 'nonce']);
});

test('ignores what is no Ed25519 key, and lets no later key replace an earlier one', () => {
  const { publicKey } = SIGNER;
  const list = [{ kid: 'x' }, { ...publicKey, x: 'AAAA' }, null, publicKey];
  assert.deepEqual(readPublicKeys(list), [publicKey]);
  assert.deepEqual(readPublicKeys('text'), []);
  const impostor = { ...other.publicKey, kid: publicKey.kid };
  assert.deepEqual(joinKeys([publicKey], [impostor, other.publicKey]), [
    publicKey,
    other.publicKey,
  ]);
});
