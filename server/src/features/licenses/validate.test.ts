import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { Client } from 'pg';

import { startTestService } from '../../../test/harness.ts';
import { activate, validate } from '../../../test/license-steps.ts';
import { HOUR_MS } from '../../../test/test-clock.ts';

const service = await startTestService();

async function activateOne() {
  const { licenseKey, license } = await service.issue();
  const machineId = 'the machine';
  const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
  return { license, ask: () => validate(service, licenseKey, id, machineId) };
}

/** The names of the statements that some work sends. */
async function statementsOf(t: TestContext, work: () => Promise<unknown>): Promise<unknown[]> {
  const query = t.mock.method(Client.prototype, 'query');
  await work();
  const sent = query.mock.calls.map(({ arguments: [asked] }: { arguments: unknown[] }) =>
    Object(asked),
  );
  query.mock.restore();
  return sent.map(({ name }: { name?: unknown }) => name);
}

test('a validation whose token is fresh takes one round trip', async (t) => {
  const { ask } = await activateOne();
  assert.deepEqual(await statementsOf(t, ask), ['activation_count_validations']);
});

test('a validation whose token must be signed again takes two round trips', async (t) => {
  const { ask } = await activateOne();
  service.clock.advance(HOUR_MS);
  assert.deepEqual(await statementsOf(t, ask), [
    'activation_count_validations',
    'activation_record_validations',
  ]);
});

test('a refused validation takes one round trip', async (t) => {
  const { ask, license } = await activateOne();
  await service.setFacts(license.id, { revoked_at: service.clock.now() });
  assert.deepEqual(await statementsOf(t, ask), ['activation_count_validations']);
});
