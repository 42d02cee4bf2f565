import assert from 'node:assert/strict';
import { test } from 'node:test';

import { activated, KEY, openActivated, openClient } from '../../test/open-client.ts';
import { connectionRefused, json, page, problem } from '../../test/scripted-service.ts';
import { MACHINE_ID } from '../../test/signer.ts';

const ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const OTHER = '0190a6b2-0000-7d32-9c41-3f5f0a1b2c3d';

function listed(id: string, machineId: string, isActive = true) {
  return {
    activation_id: id,
    machine_id: machineId,
    is_active: isActive,
    os_version: '15.1',
    app_version: null,
    activated_at: '2027-01-15T08:00:00.000Z',
    last_validated_at: '2027-01-15T08:00:00.000Z',
    validation_count: 1,
  };
}

const LIST = [listed(ID, MACHINE_ID), listed(OTHER, 'other')];

test('lists the machines of the license, and marks this one', async () => {
  const { client, service } = await openActivated();
  service.answer(() => json(LIST));
  const result = await client.machines();
  assert.ok(result.ok);
  assert.deepEqual(
    result.machines.map(({ activationId, isActive, isThis }) => [activationId, isActive, isThis]),
    [
      [ID, true, true],
      [OTHER, true, false],
    ],
  );
  assert.deepEqual(Object.keys(result.machines[0] ?? {}).includes('machineId'), false);
  assert.equal(service.requests[0]?.path, `/api/v1/licenses/${KEY}/activations`);
});

test('lists the machines of a key that is on too many, and moves it here', async () => {
  const { client, service } = await openClient();
  service.answer(() => problem(409, 'activation_limit_reached', { max: 1, current: 1 }));
  assert.deepEqual(await client.activate(KEY), {
    ok: false,
    code: 'activation_limit_reached',
    max: 1,
    current: 1,
  });
  service.answer(({ path, method }) => {
    if (method === 'GET') return json([listed(OTHER, 'other')]);
    return path.endsWith('/deactivate') ? json({ success: true }) : activated();
  });
  assert.equal((await client.machines()).ok, true);
  service.requests.length = 0;
  assert.deepEqual(await client.moveHere(OTHER), { ok: true });
  assert.deepEqual(
    service.requests.map(({ path }) => path.split('/').at(-1)),
    ['activations', 'deactivate', 'activate'],
  );
  assert.deepEqual(service.requests[1]?.body, {
    license_key: KEY,
    activation_id: OTHER,
    machine_id: 'other',
  });
  assert.equal(client.state.mayRun, true);
});

test('moves nothing that is not in the list, or that the service does not free', async () => {
  const { client, service } = await openActivated();
  service.answer(() => json(LIST));
  assert.deepEqual(await client.moveHere('unknown'), { ok: false, code: 'activation_not_found' });
  service.answer(({ method }) =>
    method === 'GET' ? json(LIST) : problem(409, 'machine_airgapped', { until: '2027-02-01' }),
  );
  assert.deepEqual(await client.moveHere(OTHER), { ok: false, code: 'machine_airgapped' });
  service.answer(() => json([{ activation_id: ID }]));
  const shapeless = await client.machines();
  assert.deepEqual(shapeless, { ok: false, code: 'no_answer', cause: 'portal', retryAfterMs: 0 });
});

test('deactivates here only when the service has', async () => {
  const { client, service, reopen } = await openActivated();
  service.answer(() => page());
  const result = await client.deactivate();
  assert.deepEqual(result, { ok: false, code: 'no_answer', cause: 'portal', retryAfterMs: 0 });
  assert.equal(client.state.mayRun, true);
  const again = await reopen();
  assert.equal(again.state.mayRun, true);
  service.answer(() => json({ success: true }));
  service.requests.length = 0;
  assert.deepEqual(await again.check('startup'), { ok: false, code: 'not_activated' });
  assert.deepEqual(
    service.requests.map(({ path }) => path.split('/').at(-1)),
    ['deactivate'],
  );
  assert.deepEqual([again.state.kind, again.state.reason], ['none', 'not_activated']);
});

test('deactivates what the service does not know any more', async () => {
  for (const [status, code] of [
    [404, 'license_not_found'],
    [403, 'machine_mismatch'],
  ] as const) {
    const { client, service } = await openActivated();
    service.answer(() => problem(status, code));
    assert.deepEqual(await client.deactivate(), { ok: true });
    assert.equal(client.state.reason, 'not_activated');
  }
});

test('keeps the license if the service refuses to free it', async () => {
  const { client, service } = await openActivated();
  service.answer(() => problem(409, 'machine_airgapped'));
  assert.deepEqual(await client.deactivate(), { ok: false, code: 'machine_airgapped' });
  assert.equal(client.state.mayRun, true);
  service.answer(() => connectionRefused());
  await client.check();
  assert.equal(service.requests.at(-1)?.path, '/api/v1/licenses/validate', 'no release waits');
});

test('an activation calls a waiting release off', async () => {
  const { client, service } = await openActivated();
  service.answer(() => connectionRefused());
  await client.deactivate();
  service.answer(() => activated());
  await client.activate(KEY);
  service.answer(() => connectionRefused());
  await client.check();
  assert.equal(service.requests.at(-1)?.path, '/api/v1/licenses/validate');
});
