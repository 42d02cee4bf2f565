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

/** Far below the duration of the flood, and far above that of one statement on a busy machine. */
const BOUND_MS = 3_000;

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

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

test('a flood of listings delays no validation and no check, and is refused beyond its bound', async () => {
  const { licenseKey } = await service.issue();
  const machine = anyMachine();
  const { activation_id: id } = await activate(service, licenseKey, machine);
  const list = () => service.get(`/api/v1/licenses/${licenseKey}/activations`);
  const release = holdDatabaseLimiter();
  try {
    const flood = runConcurrently(WAITING + 50, list);
    while (service.context.databaseLimiter.queued < WAITING)
      await new Promise((resolve) => setTimeout(resolve, 5));

    const validating = await measureMs(async () => {
      const answers = await runConcurrently(20, () =>
        validate(service, licenseKey, id, machine.machine_id),
      );
      assert.deepEqual(tally(answers.map(({ valid }) => String(valid))), { true: 20 });
    });
    assert.ok(validating < BOUND_MS, `validations took ${validating} ms`);

    const checking = await measureMs(async () => {
      const answers = await runConcurrently(300, () =>
        service.get(`/api/v1/licenses/check/txn_${randomUUID()}`),
      );
      assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 300 });
    });
    assert.ok(checking < BOUND_MS, `checks took ${checking} ms`);

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
