import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { createRecoveryCodes, hashRecoveryCode } from './recovery-code.ts';
import { createTotpSecret, findTotpStep, toBase32, totpCode, totpStep, totpUri } from './totp.ts';

const SECRET = toBase32(Buffer.from('12345678901234567890'));

test('computes the codes of RFC 6238, appendix B', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(totpCode(SECRET, totpStep(new Date(seconds * 1000))), code);
  }
});

test('accepts codes of one step before and after, and no others', () => {
  const now = new Date('2026-11-20T10:00:00Z');
  const current = totpStep(now);
  for (const step of [-2, -1, 0, 1, 2]) {
    const found = findTotpStep(SECRET, totpCode(SECRET, current + step), now);
    assert.equal(found, Math.abs(step) <= 1 ? current + step : null, `step ${step}`);
  }
  assert.equal(findTotpStep(SECRET, 'x', now), null);
});

test('creates secrets of 160 bits and a URI for authenticators', () => {
  assert.match(createTotpSecret(randomBytes), /^[A-Z2-7]{32}$/);
  const uri = new URL(totpUri(SECRET, 'anna+x@example.com', 'license.example.com'));
  assert.equal(uri.searchParams.get('secret'), SECRET);
  assert.equal(uri.searchParams.get('issuer'), 'Latchkey license.example.com');
  assert.ok(uri.pathname.endsWith('anna%2Bx%40example.com'));
});

test('creates ten different recovery codes, read with or without hyphens and in any case', () => {
  const codes = createRecoveryCodes(randomBytes);
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) {
    assert.match(code, /^(?:[a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    assert.deepEqual(
      hashRecoveryCode(code.replaceAll('-', ' ').toUpperCase()),
      hashRecoveryCode(code),
    );
  }
  for (const text of ['', '123456', 'aaaa-aaaa-aaaa-aaa1', 'aaaa-aaaa-aaaa-aaa']) {
    assert.equal(hashRecoveryCode(text), null);
  }
});
