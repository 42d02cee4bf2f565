import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { signPaddle } from '../../../../../test/payment-providers/paddle-events.ts';
import type { Verification } from '../adapter.ts';
import { paddleAdapter } from './adapter.ts';

/** From the tests of Paddle's library. */
const VECTORS = [
  {
    body: '{"data": ["1", "2"]}',
    h1: 'a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9',
  },
  {
    body: '{"data": "value"}',
    h1: '28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261',
  },
];
const SECRET = 'VALID_SECRET';
const TS = 1_698_796_800;
const BODY = '{"data": "value"}';
const H1 = '28981e941fae76e53db32f3d2a83cb69db41476595e84e1970a1b5d98f62b261';
const OTHER_H1 = 'a300428748dce5c70e4da19bffd60769591ea969c99dea3105d0ec9612cf43f9';
const NOW = new Date(TS * 1000);

const GOOD: Verification = 'valid';
const MISSING: Verification = 'missing';
const MALFORMED: Verification = 'malformed';
const MISMATCH: Verification = 'mismatch';
const STALE: Verification = 'stale';

function verify(header: string, { secrets = [SECRET], now = NOW, body = BODY } = {}): Verification {
  return paddleAdapter.verify(
    { headers: { 'billing-signature': header }, rawBody: Buffer.from(body) },
    { secrets, now, toleranceSeconds: 30 },
  );
}

describe('valid signatures', () => {
  for (const { body, h1 } of VECTORS) {
    test(`accepts the vector of Paddle with ${body}`, () => {
      assert.deepEqual(verify(`ts=${TS};h1=${h1}`, { body }), GOOD);
    });
  }

  test('accepts signatures of signPaddle for bytes and text', () => {
    assert.equal(signPaddle(BODY, SECRET, NOW), `ts=${TS};h1=${H1}`);
    assert.equal(signPaddle(Buffer.from(BODY), SECRET, NOW), `ts=${TS};h1=${H1}`);
  });

  test('reads Paddle-Signature too; Billing-Signature takes precedence', () => {
    const rawBody = Buffer.from(BODY);
    const options = { secrets: [SECRET], now: NOW, toleranceSeconds: 30 };
    const good = `ts=${TS};h1=${H1}`;
    const bad = `ts=${TS};h1=${OTHER_H1}`;
    const cases = [
      [{ 'paddle-signature': good }, GOOD],
      [{ 'billing-signature': '', 'paddle-signature': good }, GOOD],
      [{ 'billing-signature': good, 'paddle-signature': bad }, GOOD],
      [{ 'billing-signature': bad, 'paddle-signature': good }, MISMATCH],
    ] as const;
    for (const [headers, expected] of cases) {
      assert.deepEqual(
        paddleAdapter.verify({ headers, rawBody }, options),
        expected,
        JSON.stringify(headers),
      );
    }
  });

  test('accepts any h1 under any secret, and ignores unknown keys', () => {
    const secrets = ['another', SECRET];
    for (const header of [
      `ts=${TS};h1=${H1};h1=${OTHER_H1}`,
      `ts=${TS};h1=${OTHER_H1};h1=${H1}`,
      `ts=${TS};h1=nonsense;h1=${H1}`,
      `h2=abc;h1=${H1};ts=${TS};note`,
      `ts=${TS};h1=${H1.toUpperCase()}`,
    ]) {
      assert.deepEqual(verify(header, { secrets }), GOOD, header);
    }
  });

  test('verifies the bytes of a body that is not UTF-8', () => {
    const rawBody = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]);
    const header = signPaddle(rawBody, SECRET, NOW);
    const options = { secrets: [SECRET], now: NOW, toleranceSeconds: 30 };
    const verification = paddleAdapter.verify(
      { headers: { 'billing-signature': header }, rawBody },
      options,
    );
    assert.deepEqual(verification, GOOD);
  });
});

describe('invalid signatures', () => {
  test('are missing without a header or with an empty one', () => {
    const delivery = { headers: {}, rawBody: Buffer.from(BODY) };
    const options = { secrets: [SECRET], now: NOW, toleranceSeconds: 30 };
    assert.deepEqual(paddleAdapter.verify(delivery, options), MISSING);
    assert.deepEqual(verify(''), MISSING);
  });

  test('are malformed without exactly one time and at least one digest', () => {
    for (const header of [
      'nonsense',
      `ts=${TS}`,
      `h1=${H1}`,
      `ts=;h1=${H1}`,
      `ts=${TS};h1=`,
      `ts=${TS};h1=${H1.slice(1)}`,
      `ts=${TS};h1=${H1}00`,
      `ts=${TS}.5;h1=${H1}`,
      `ts=0${TS};h1=${H1}`,
      `ts=+${TS};h1=${H1}`,
      `ts=${TS};ts=${TS};h1=${H1}`,
      `ts=${TS},h1=${H1}`,
      `ts=${TS};h1=${H1}, ts=${TS}`,
      `TS=${TS};H1=${H1}`,
    ]) {
      assert.deepEqual(verify(header), MALFORMED, header);
    }
  });

  test('mismatch for another body, time or secret, or a part of the secret', () => {
    const header = `ts=${TS};h1=${H1}`;
    assert.deepEqual(verify(header, { body: `${BODY} ` }), MISMATCH);
    assert.deepEqual(verify(`ts=${TS + 1};h1=${H1}`), MISMATCH);
    assert.deepEqual(verify(header, { secrets: ['valid_secret', 'VALID', ''] }), MISMATCH);
  });
});

describe('signed times', () => {
  const header = `ts=${TS};h1=${H1}`;

  test('may differ by the tolerance, before and after', () => {
    for (const [offMs, expected] of [
      [30_000, GOOD],
      [30_001, STALE],
      [-30_000, GOOD],
      [-30_001, STALE],
    ] as const) {
      const now = new Date(NOW.getTime() + offMs);
      assert.deepEqual(verify(header, { now }), expected, String(offMs));
    }
  });

  test('are stale only with a valid signature', () => {
    const now = new Date(NOW.getTime() + 3_600_000);
    assert.deepEqual(verify(`ts=${TS};h1=${OTHER_H1}`, { now }), MISMATCH);
    assert.deepEqual(verify(header, { now, secrets: ['another'] }), MISMATCH);
  });
});
