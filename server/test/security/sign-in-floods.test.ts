/** Floods of strangers who want to keep an operator from signing in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { resetOperator } from '#server/features/operators/manage.ts';

import { startTestService, type TestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import { redeemAsBrowser, TEST_PASSWORD } from '../operator-steps.ts';
import { DAY_MS } from '../test-clock.ts';

const SESSION = '/api/v1/admin/session';

/** A hash takes some 5 ms, so that the clients of a flood always fill the queue. */
const service = await startTestService({ passwordCost: { memoryKib: 4_096, passes: 1 } });

function signIn(
  email: string,
  from: string,
  password = TEST_PASSWORD,
  to: TestService = service,
): Promise<Answer> {
  return to.post(SESSION, { email, password }, { 'x-forwarded-for': from });
}

/** The pause of a client after a refusal, so that the requests of the flood do not take the processor. */
const PAUSE_MS = 20;

/** Signs in with unknown addresses, each time from another network, while something else runs; returns the statuses. */
async function flood(
  clientCount: number,
  nextAddress: () => string,
  during: () => Promise<void>,
): Promise<Set<number>> {
  const statuses = new Set<number>();
  const end = new AbortController();
  const clients = Array.from({ length: clientCount }, async () => {
    while (!end.signal.aborted) {
      const answer = await signIn(`${crypto.randomUUID()}@example.com`, nextAddress(), 'guess');
      statuses.add(answer.status);
      if (answer.status === 503) await setTimeout(PAUSE_MS);
    }
  });
  try {
    while (!statuses.has(503)) await setTimeout(PAUSE_MS);
    await during();
  } finally {
    end.abort();
    await Promise.all(clients);
  }
  return statuses;
}

const hexOf = (number: number): string => number.toString(16);

let count = 0;

const anySite = (): string => `2001:db8:${hexOf((count += 1))}::1`;

const anyNetworkOfOneSite = (): string => `2001:db8:ffff:${hexOf((count += 1))}::1`;

/** More than one running and forty waiting hashes. */
const MANY = 50;

describe('a flood of sign-ins', () => {
  test('from many sites does not keep an operator out in a network where they signed in', async () => {
    const { email } = await redeemAsBrowser(service);
    const home = anyAddress();
    assert.equal((await signIn(email, home)).status, 200);
    const statuses = await flood(MANY, anySite, async () => {
      for (let tries = 0; tries < 3; tries += 1) {
        assert.equal((await signIn(email, home)).status, 200);
      }
    });
    assert.deepEqual(statuses, new Set([401, 503]));
  });

  test('from one IPv6 /48 keeps no operator out, also in a network that is new', async () => {
    const { email } = await redeemAsBrowser(service);
    await flood(8, anyNetworkOfOneSite, async () => {
      for (let tries = 0; tries < 3; tries += 1) {
        assert.equal((await signIn(email, anyAddress())).status, 200);
      }
    });
  });

  test('from many sites keeps no operator from proving freshness or changing the password', async () => {
    const browser = await redeemAsBrowser(service);
    await flood(MANY, anySite, async () => {
      const password = `${TEST_PASSWORD}, changed`;
      const changed = await browser.post(`${SESSION}/password`, { password });
      assert.equal(changed.status, 200, changed.text);
      const proved = await browser.post(`${SESSION}/prove`, { password });
      assert.equal(proved.status, 200, proved.text);
    });
  });
});

/** Uses up the tries of an account from elsewhere. */
async function guess(email: string, at: TestService): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    assert.equal((await signIn(email, anyAddress(), 'guess', at)).status, 401);
  }
  assert.equal((await signIn(email, anyAddress(), TEST_PASSWORD, at)).status, 429);
}

describe('a network from which an operator signed in', () => {
  test('is known after a restart, to another process, and after the sign-out', async () => {
    const browser = await redeemAsBrowser(service);
    const home = anyAddress();
    const signedIn = await signIn(browser.email, home);
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const headers = { cookie, origin: 'https://license.example.com' };
    assert.equal((await service.post(`${SESSION}/sign-out`, {}, headers)).status, 200);
    const restarted = await startTestService({ beside: service });
    await guess(browser.email, restarted);
    assert.equal((await signIn(browser.email, home, TEST_PASSWORD, restarted)).status, 200);
  });

  test('is forgotten after 30 days, and by a reset', async () => {
    const { email } = await redeemAsBrowser(service);
    const other = await redeemAsBrowser(service);
    const home = anyAddress();
    assert.equal((await signIn(email, home)).status, 200);
    assert.equal((await signIn(other.email, home)).status, 200);
    await resetOperator(service.context, { email }, { actor: 'test', reason: null });
    const { rows } = await service.pool.query(
      'select lower(email) as email from operator_networks join operators on id = operator_id where network = $1',
      [home],
    );
    assert.deepEqual(rows, [{ email: other.email }]);
    await guess(other.email, service);
    assert.equal((await signIn(other.email, home, 'guess')).status, 401);
    service.clock.advance(30 * DAY_MS);
    const restarted = await startTestService({ beside: service });
    await guess(other.email, restarted);
    assert.equal((await signIn(other.email, home, TEST_PASSWORD, restarted)).status, 429);
  });
});
