import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';
import { Stripe } from 'stripe';

import { stripeAdapter } from './adapter.ts';

const library = new Stripe('an-api-key').webhooks;
const NOW = new Date('2027-03-01T12:00:00.000Z');
const SECONDS = NOW.getTime() / 1000;
const BODY = '{"id":"evt_1","object":"event","type":"invoice.paid"}';

function verify(
  header: string | undefined,
  { body = BODY, secrets = ['whsec_x'], now = NOW } = {},
) {
  const headers = header === undefined ? {} : { 'stripe-signature': header };
  const delivery = { headers, rawBody: Buffer.from(body) };
  return stripeAdapter.verify(delivery, { secrets, now, toleranceSeconds: 30 });
}

function sign(timestamp: number, { payload = BODY, secret = 'whsec_x' } = {}): string {
  return library.generateTestHeaderString({ payload, secret, timestamp });
}

/** The result of the library; an exception counts as a rejection. */
function theirs(body: string, header: string, secret: string): boolean {
  try {
    library.constructEvent(body, header, secret, 300, undefined, NOW.getTime());
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && error.constructor.name.startsWith('Stripe'));
    return false;
  }
}

test('accepts a published signature at its time, which the library generates too', () => {
  const v1 = '66e2009edb992acb4fa564fdaf7c7bb690daf9d7fc01951d83d4078cb0e913d5';
  assert.equal(sign(1_700_000_000), `t=1700000000,v1=${v1}`);
  const now = new Date(1_700_000_000_000);
  assert.deepEqual(verify(`t=1700000000,v1=${v1}`, { now }), 'valid');
  assert.deepEqual(verify(`t=1700000000,v1=${v1}`), 'stale');
});

test('agrees with the library about valid and forged deliveries', () => {
  // As Stripe's begin; the library refuses one of blanks alone.
  const secret = fc.string({ maxLength: 20 }).map((text) => `whsec_${text}`);
  const seen = new Set<boolean>();
  const drawn = fc.record({
    body: fc.jsonValue().map((value) => JSON.stringify({ value })),
    secret,
    signedWith: fc.option(secret, { nil: null }),
    agoSeconds: fc.integer({ min: 0, max: 400 }),
    shift: fc.constantFrom(0, 0, 0, 1),
    other: fc.constantFrom('', ',v0=abc', ',v1=abc', `,v1=${'0'.repeat(64)}`),
  });
  fc.assert(
    fc.property(drawn, ({ body, signedWith, agoSeconds, shift, other, ...rest }) => {
      const at = SECONDS - agoSeconds;
      const signed = sign(at + shift, { payload: body, secret: signedWith ?? rest.secret });
      const header = signed.replace(/t=\d+/, `t=${at}`) + other;
      const expected = theirs(body, header, rest.secret);
      seen.add(expected);
      const ours = verify(header, { body, secrets: [rest.secret] });
      assert.equal(ours === 'valid', expected);
    }),
  );
  assert.equal(seen.size, 2);
});

test('accepts any v1 under any secret, at any position', () => {
  const [, good = ''] = sign(SECONDS).split(',');
  const bad = `v1=${'0'.repeat(64)}`;
  const time = `t=${SECONDS}`;
  const headers = [
    `${time},${bad},${good}`,
    `${time},${good},${bad}`,
    `v0=1,${good},${time}`,
    `${time}, ${good}`,
  ];
  for (const header of headers) {
    assert.deepEqual(verify(header, { secrets: ['whsec_old', 'whsec_x'] }), 'valid', header);
  }
});

test('accepts times within five minutes, even with a smaller setting', () => {
  assert.deepEqual(verify(sign(SECONDS - 300)), 'valid');
  assert.deepEqual(verify(sign(SECONDS + 300)), 'valid');
  assert.deepEqual(verify(sign(SECONDS - 301)), 'stale');
  // The library accepts any time in the future.
  assert.equal(theirs(BODY, sign(SECONDS + 301), 'whsec_x'), true);
  assert.deepEqual(verify(sign(SECONDS + 301)), 'stale');
});

describe('malformed signatures', () => {
  test('are missing without a header', () => {
    assert.deepEqual(verify(undefined), 'missing');
    assert.deepEqual(verify(''), 'missing');
  });

  test('are malformed without exactly one time and a v1', () => {
    const v1 = `v1=${'0'.repeat(64)}`;
    const wrong = [v1, `t=1,t=1,${v1}`, 't=1', 't=1,v1=abc', `t=01,${v1}`, `t=x,${v1}`, ',,,'];
    for (const header of wrong) {
      assert.deepEqual(verify(header), 'malformed', header);
    }
  });

  test('mismatch for another body, time or secret', () => {
    const header = sign(SECONDS);
    const mismatch = 'mismatch';
    assert.deepEqual(verify(header, { body: `${BODY} ` }), mismatch);
    assert.deepEqual(verify(header.replace(/t=\d+/, `t=${SECONDS - 1}`)), mismatch);
    assert.deepEqual(verify(header, { secrets: ['x'] }), mismatch);
  });
});
