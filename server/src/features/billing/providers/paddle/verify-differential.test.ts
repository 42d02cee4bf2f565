/** Compares with Paddle's library; the known differences are tested too. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, mock, test, before, after } from 'node:test';

import { Paddle } from '@paddle/paddle-node-sdk';
import * as fc from 'fast-check';

import { paddleAdapter } from './adapter.ts';

const NOW = new Date('2027-03-01T12:00:00.000Z');
const SECONDS = NOW.getTime() / 1000;
/** The library's tolerance is fixed. */
const LIBRARY_TOLERANCE_SECONDS = 5;
const SECRET = 'pdl_ntfset_01htz88xpr0mm7b3ta2pjkr7w2_L3zZ9hEXAMPLEbhh9zLFhBsPrPJH';

const library = new Paddle('an-api-key').webhooks;

before(() => mock.timers.enable({ apis: ['Date'], now: NOW }));
after(() => mock.timers.reset());

function ours(body: string, header: string, secret: string, toleranceSeconds = 5): boolean {
  const delivery = { headers: { 'paddle-signature': header }, rawBody: Buffer.from(body) };
  return (
    paddleAdapter.verify(delivery, { secrets: [secret], now: NOW, toleranceSeconds }) === 'valid'
  );
}

/** An exception of the library counts as a rejection. */
async function theirs(body: string, header: string, secret: string): Promise<boolean> {
  try {
    return await library.isSignatureValid(body, secret, header);
  } catch (error) {
    assert.match(String(error), /Invalid webhook signature/);
    return false;
  }
}

function digest(body: string, secret: string, ts: number): string {
  return createHmac('sha256', secret).update(`${ts}:${body}`).digest('hex');
}

test('agrees with the library about valid and forged deliveries', async () => {
  const secret = fc.string({ minLength: 1, maxLength: 40 });
  const delivery = fc.record({
    body: fc.string({ unit: 'grapheme', maxLength: 60 }),
    secret,
    signedWith: fc.option(secret, { nil: null }),
    signedBody: fc.option(fc.string({ maxLength: 10 }), { nil: null, freq: 3 }),
    // Not in the future: see below.
    agoSeconds: fc.integer({ min: 0, max: LIBRARY_TOLERANCE_SECONDS + 3 }),
    shift: fc.constantFrom(0, 0, 0, 1),
    other: fc.constantFrom('', ';h2=abc', ';note=x'),
  });
  const seen = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(delivery, async (drawn) => {
      const ts = SECONDS - drawn.agoSeconds;
      const signedWith = drawn.signedWith ?? drawn.secret;
      const h1 = digest(drawn.signedBody ?? drawn.body, signedWith, ts + drawn.shift);
      const header = `ts=${ts};h1=${h1}${drawn.other}`;
      const expected = await theirs(drawn.body, header, drawn.secret);
      seen.add(expected);
      assert.equal(ours(drawn.body, header, drawn.secret), expected);
    }),
    { numRuns: 500 },
  );
  assert.deepEqual(seen, new Set([true, false]));
});

test('rejects malformed headers like the library', async () => {
  const h1 = digest('{}', SECRET, SECONDS);
  for (const header of ['nonsense', `ts=${SECONDS}`, `h1=${h1}`, `ts=;h1=${h1}`, `ts=x;h1=${h1}`]) {
    assert.equal(await theirs('{}', header, SECRET), false, header);
    assert.equal(ours('{}', header, SECRET), false, header);
  }
});

describe('differences', () => {
  const good = digest('{}', SECRET, SECONDS);
  const bad = digest('{}', 'another', SECONDS);

  async function assertDifference(
    header: string,
    expected: { readonly ours: boolean; readonly theirs: boolean },
    toleranceSeconds?: number,
  ): Promise<void> {
    assert.equal(ours('{}', header, SECRET, toleranceSeconds), expected.ours);
    assert.equal(await theirs('{}', header, SECRET), expected.theirs);
  }

  test('accepts any of several h1, as documented; the library only the last one', async () => {
    await assertDifference(`ts=${SECONDS};h1=${good};h1=${bad}`, { ours: true, theirs: false });
    await assertDifference(`ts=${SECONDS};h1=${bad};h1=${good}`, { ours: true, theirs: true });
  });

  test('rejects times in the future beyond the tolerance; the library accepts them', async () => {
    const inAnHour = SECONDS + 3600;
    const header = `ts=${inAnHour};h1=${digest('{}', SECRET, inAnHour)}`;
    await assertDifference(header, { ours: false, theirs: true });
  });

  test('has a configurable tolerance; the library has 5 seconds', async () => {
    const before20 = SECONDS - 20;
    const header = `ts=${before20};h1=${digest('{}', SECRET, before20)}`;
    await assertDifference(header, { ours: true, theirs: false }, 30);
    await assertDifference(header, { ours: false, theirs: false }, 5);
  });

  test('accepts upper-case hexadecimal digits; the library does not', async () => {
    const header = `ts=${SECONDS};h1=${good.toUpperCase()}`;
    await assertDifference(header, { ours: true, theirs: false });
  });

  test('rejects a time with a suffix and a second time', async () => {
    await assertDifference(`ts=${SECONDS}x;h1=${good}`, { ours: false, theirs: true });
    await assertDifference(`ts=0${SECONDS};h1=${good}`, { ours: false, theirs: true });
    await assertDifference(`ts=1;ts=${SECONDS};h1=${good}`, { ours: false, theirs: true });
    await assertDifference(`ts=${SECONDS};h1=${good}=x`, { ours: false, theirs: true });
  });

  test('returns a result for a header without time or digest; the library throws', async () => {
    for (const header of ['', `ts=${SECONDS}`, `h1=${good}`]) {
      assert.equal(ours('{}', header, SECRET), false);
      await assert.rejects(
        library.isSignatureValid('{}', SECRET, header),
        /Invalid webhook signature/,
      );
    }
  });
});
