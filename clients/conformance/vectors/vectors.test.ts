import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { readLicenseKey } from '#server/lib/license-key.ts';

import { listTokenVectors, renderVectors } from './all-vectors.ts';
import { listClockVectors } from './clock-vectors.ts';
import { FORGED_SIGNATURE, isForgeable } from './edwards.ts';
import { listFingerprintVectors } from './fingerprint-vectors.ts';
import { listKeyVectors } from './key-vectors.ts';
import { VERDICTS, type TokenVector } from './token-vector.ts';

test('generating the vectors again results in the bytes of the files', () => {
  const files = [...renderVectors()];
  assert.equal(files.length, 4);
  for (const [name, text] of files) {
    assert.equal(readFileSync(new URL(name, import.meta.url), 'utf8'), text, name);
  }
  assert.deepEqual([...renderVectors()], files);
});

test('every vector has a name of its own', () => {
  for (const vectors of [
    listTokenVectors(),
    listKeyVectors(),
    listClockVectors(),
    listFingerprintVectors(),
  ]) {
    const names = vectors.map(({ name }) => name);
    assert.deepEqual([...new Set(names)], names);
  }
});

test('there are tokens for every verdict', () => {
  const verdicts = new Set(listTokenVectors().map(({ verdict }) => verdict));
  assert.deepEqual([...verdicts].sort(), [...VERDICTS].sort());
});

test('tokens with a verdict after the signature have a valid one', () => {
  const after = new Set<string>(VERDICTS.slice(VERDICTS.indexOf('signature') + 1));
  const tokens = listTokenVectors().filter(({ verdict }) => verdict === 'ok' || after.has(verdict));
  assert.ok(tokens.length > 50);
  const invalid = tokens.filter((token) => !isSigned(token));
  assert.deepEqual(
    invalid.map(({ name }) => name),
    [],
  );
});

test('tokens of a public key of small order carry the forged signature', () => {
  const forged = listTokenVectors().filter(({ name }) => name.startsWith('a public key of order'));
  assert.equal(forged.length, 14);
  for (const { name, token, verdict } of forged) {
    assert.ok(token.endsWith(`.${FORGED_SIGNATURE.toString('base64url')}`), name);
    assert.equal(verdict, 'signature');
  }
  // Without a check of the public key, the signatures are valid.
  assert.deepEqual(
    forged.filter((token) => !isForgedFor(token)).map(({ name }) => name),
    [],
  );
});

/** Whether k vanishes, so that S * B = R + k * A holds for S = 1, R = B and every A whose order divides 8. */
function isForgedFor({ token, public_keys: [key] }: TokenVector): boolean {
  if (key === undefined || !('x' in key)) return false;
  const input = token.slice(0, token.lastIndexOf('.'));
  return isForgeable(Buffer.from(String(key.x), 'base64url'), input);
}

test('the service reads typed keys as the vectors do', () => {
  for (const { name, text, key, verdict } of listKeyVectors()) {
    const reading = readLicenseKey(text, 'LK');
    if (verdict === 'ok') {
      assert.equal(reading.kind, 'native', name);
      assert.deepEqual(reading, readLicenseKey(key ?? '', 'LK'), name);
    } else {
      assert.notEqual(reading.kind, 'native', name);
    }
  }
});

function isSigned({ token, public_keys: publicKeys }: TokenVector): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const input = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  return publicKeys.some((key) => {
    if (!('x' in key)) return false;
    const publicKey = createPublicKey({ key: { ...key, x: String(key.x) }, format: 'jwk' });
    return verify(null, input, publicKey, bytes);
  });
}
