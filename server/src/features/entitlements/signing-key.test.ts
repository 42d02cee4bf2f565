import { strict as assert } from 'node:assert';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { calculateJwkThumbprint } from 'jose';
import {
  exportSigningKey,
  generateSigningKey,
  importSigningKey,
  toPublicJwk,
} from './signing-key.ts';
import { signEntitlement } from './token.ts';

/** The key of RFC 8037, appendix A.1, as base64 of PKCS #8: a fixed head and its 32 bytes. */
const rfcKey = Buffer.concat([
  Buffer.from('302e020100300506032b657004220420', 'hex'),
  Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url'),
]).toString('base64');

test('public key and thumbprint are those of RFC 8037, appendices A.2 and A.3', () => {
  assert.deepEqual(importSigningKey(rfcKey).publicJwk, {
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    alg: 'EdDSA',
    use: 'sig',
  });
});

test('the signature is that of RFC 8037, appendix A.4', () => {
  const input = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc';
  assert.equal(
    signEntitlement(importSigningKey(rfcKey), input),
    'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  );
});

test('the thumbprint equals that of jose', async () => {
  const { publicJwk } = generateSigningKey();
  assert.equal(await calculateJwkThumbprint({ ...publicJwk }), publicJwk.kid);
});

test('an exported key is imported as the same key', () => {
  const key = generateSigningKey();
  const back = importSigningKey(exportSigningKey(key));
  assert.deepEqual(back.publicJwk, key.publicJwk);
  assert.equal(signEntitlement(back, 'x'), signEntitlement(key, 'x'));
  assert.deepEqual(toPublicJwk(createPublicKey(key.privateKey)), key.publicJwk);
});

test('the header of a token contains only algorithm, type and key id', () => {
  const key = generateSigningKey();
  const header: unknown = JSON.parse(Buffer.from(key.encodedHeader, 'base64url').toString());
  assert.deepEqual(header, { alg: 'EdDSA', typ: 'entitlement+jwt', kid: key.publicJwk.kid });
});

test('two generated keys differ', () => {
  assert.notEqual(generateSigningKey().publicJwk.x, generateSigningKey().publicJwk.x);
});

test('rejects everything but an Ed25519 private key', () => {
  assert.throws(() => importSigningKey(''));
  assert.throws(() => importSigningKey('AAAA'));
  const { privateKey } = generateKeyPairSync('x25519');
  const exported = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  assert.throws(() => importSigningKey(exported), TypeError);
});
