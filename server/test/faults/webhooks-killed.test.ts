import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { LicenseCheckResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { makeExternalHome } from '../external-service.ts';
import { paddleDelivery, paddleId, paddleTransactionCompleted } from '../paddle-events.ts';

const SECRET = 'pdl_ntfset_of_a_service_that_is_killed';
const PRICE = 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa';
const PURCHASES = 60;

/** How long after the first delivery the service is killed: before, within and after the first commits. */
const KILLED_AFTER_MS = [1, 8, 20];

test(
  'webhooks whose service is killed before it has answered make one license each when they are delivered again',
  { skip: process.platform === 'win32' },
  async () => {
    await using external = await makeExternalHome();
    const settings = { LATCHKEY_BILLING_SECRETS: SECRET };
    const pool = createPool(
      { url: external.settings['DATABASE_URL'] ?? '' },
      { maxConnections: 2, log: createLog({ level: 'silent' }) },
    );
    await using resources = new AsyncDisposableStack();
    resources.defer(() => pool.end());
    let service = await external.start(settings);
    const purchases: { transactionId: string; event: unknown }[] = [];
    for (const afterMs of KILLED_AFTER_MS) {
      const more = Array.from({ length: PURCHASES }, () => {
        const transactionId = paddleId('txn');
        const lines = [{ priceId: PRICE }];
        return { transactionId, event: paddleTransactionCompleted({ transactionId, lines }) };
      });
      purchases.push(...more);
      const answering = more.map(({ event }) => deliver(service.url, event));
      await sleep(afterMs);
      const ended = service.stop('SIGKILL');
      const answers = await Promise.all(answering);
      await ended;
      assert.ok(answers.every((status) => status === 0 || status === 200));
      service = await external.start(settings);
    }
    for (const { event } of purchases) assert.equal(await deliver(service.url, event), 200);
    for (const { event } of purchases) assert.equal(await deliver(service.url, event), 200);

    const { rows } = await pool.query(
      `select (select count(*)::integer from licenses) as licenses,
              (select count(*)::integer from license_keys) as keys,
              (select count(*)::integer from billing_licenses) as lines,
              (select count(*)::integer from billing_events where status = 'processed') as events`,
    );
    const all = PURCHASES * KILLED_AFTER_MS.length;
    assert.deepEqual(rows, [{ licenses: all, keys: all, lines: all, events: all }]);
    for (const { transactionId } of purchases.slice(0, 10)) {
      const response = await fetch(`${service.url}/api/v1/licenses/check/${transactionId}`);
      const { status, licenses } = Parse(LicenseCheckResponse, await response.json());
      assert.deepEqual([status, licenses?.length], ['active', 1]);
    }
    await service.stop();
  },
);

/** The status of the answer; 0: there was none. */
async function deliver(url: string, event: unknown): Promise<number> {
  const { body, headers } = paddleDelivery(event, { secret: SECRET, at: new Date() });
  try {
    const response = await fetch(`${url}/api/v1/webhooks/billing`, {
      method: 'POST',
      body,
      headers,
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    // The service was killed in the middle of it.
    return 0;
  }
}
