import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';
import { runConcurrently, tally } from './concurrency.ts';

const service = await startTestService();

/** Limits of the service's database limiter: five of its sixteen connections, and a queue of a thousand calls. */
const CONCURRENT = 5;
const WAITING = 1_000;

/** Holds every connection that the limiter admits until the returned function is called. */
function holdDatabaseLimiter(): () => void {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  for (let held = 0; held < CONCURRENT; held++) {
    void service.context.databaseLimiter.run(async () => {
      const client = await service.pool.connect();
      await released;
      client.release();
    });
  }
  return release;
}

test('no validation and no check waits behind a flood of listings, which is refused beyond its bound', async () => {
  const { licenseKey } = await service.issue();
  const machine = anyMachine();
  const { activation_id: id } = await activate(service, licenseKey, machine);
  const list = () => service.get(`/api/v1/licenses/${licenseKey}/activations`);
  const release = holdDatabaseLimiter();
  try {
    const flood = runConcurrently(WAITING + 50, list);
    while (service.context.databaseLimiter.queued < WAITING)
      await new Promise((resolve) => setTimeout(resolve, 5));

    // The listings end only after these.
    const validations = await runConcurrently(20, () =>
      validate(service, licenseKey, id, machine.machine_id),
    );
    assert.deepEqual(tally(validations.map(({ valid }) => String(valid))), { true: 20 });
    const checks = await runConcurrently(300, () =>
      service.get(`/api/v1/licenses/check/txn_${randomUUID()}`),
    );
    assert.deepEqual(tally(checks.map(({ status }) => status)), { 200: 300 });

    const refused = await list();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
    assert.match(refused.text, /"code":"overloaded"/);

    release();
    const statuses = tally((await flood).map(({ status }) => status));
    assert.deepEqual(statuses, { 200: WAITING, 503: 50 });
  } finally {
    release();
  }
});
