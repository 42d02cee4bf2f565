/** The life of a license with the real service. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { startTestService, TEST_ISSUER } from '../../../server/test/harness.ts';
import { AIRGAP_PRODUCT, airgapCatalog } from '../../../server/test/airgap-steps.ts';
import { DAY_MS } from '../../../server/test/test-clock.ts';
import { Latchkey, type NodeOptions } from '../src/node.ts';
import { readPublicKeys } from '../src/tokens/public-keys.ts';

const service = await startTestService({ catalog: airgapCatalog() });
const { body: published } = await service.get('/.well-known/jwks.json');
const publicKeys = readPublicKeys(Object(published).keys);

const directory = await mkdtemp(join(tmpdir(), 'latchkey-client-'));
after(() => rm(directory, { recursive: true }));

function open(machineId: string, options: Partial<NodeOptions> = {}): Promise<Latchkey> {
  return Latchkey.open({
    service: service.url,
    issuer: TEST_ISSUER,
    products: ['personal', AIRGAP_PRODUCT],
    publicKeys,
    appVersion: '2.4.0',
    folder: join(directory, machineId),
    machine: { machine_id: machineId },
    now: () => service.clock.now().getTime(),
    ...options,
  });
}

test('activates, moves to another machine, and is refused on the first', async () => {
  const { licenseKey } = await service.issue({ maxActivations: 1 });
  const first = await open('first');
  assert.deepEqual(await first.activate(licenseKey.toLowerCase()), { ok: true });
  assert.equal(first.state.kind, 'licensed');
  const second = await open('second');
  const refused = await second.activate(licenseKey);
  assert.deepEqual(refused, { ok: false, code: 'activation_limit_reached', max: 1, current: 1 });
  const listed = await second.machines();
  assert.ok(listed.ok);
  const [machine] = listed.machines;
  assert.deepEqual([machine?.isActive, machine?.isThis], [true, false]);
  assert.deepEqual(await second.moveHere(machine?.activationId ?? ''), { ok: true });
  assert.equal(second.has('gpu'), true);
  assert.deepEqual(await first.check(), { ok: false, code: 'activation_inactive' });
  assert.deepEqual([first.state.kind, first.state.mayRun], ['refused', false]);
  assert.deepEqual(await second.deactivate(), { ok: true });
  assert.equal(second.state.reason, 'not_activated');
});

test('starts a trial, which ends in time without a network', async () => {
  const client = await open('trial');
  assert.deepEqual(await client.startTrial(), { ok: true });
  assert.deepEqual([client.state.kind, client.state.daysLeft], ['trial', 7]);
  service.clock.advance(8 * DAY_MS);
  const offline = await open('trial', { service: 'http://127.0.0.1:1' });
  const result = await offline.check('startup');
  assert.deepEqual(result, { ok: false, code: 'no_answer', cause: 'connection', retryAfterMs: 0 });
  assert.deepEqual([offline.state.kind, offline.state.reason], ['ended', 'license_expired']);
  assert.deepEqual(await client.check(), { ok: false, code: 'trial_expired' });
});

test('activates without a connection', async () => {
  const { licenseKey } = await service.issue({ productId: AIRGAP_PRODUCT });
  const client = await open('airgapped', { service: 'http://127.0.0.1:1' });
  const request = await client.offlineRequest({ product: AIRGAP_PRODUCT, name: 'Lab PC 3' });
  assert.ok(request.ok);
  const answer = await service.post('/api/v1/licenses/activate-airgapped', {
    license_key: licenseKey,
    request: request.request,
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await client.acceptOffline(`Answer:\n${Object(answer.body).entitlement}\n`), {
    ok: true,
  });
  assert.deepEqual([client.state.kind, client.state.daysLeft], ['licensed', 90]);
});

test('sends events once, and reports consent', async () => {
  const { licenseKey } = await service.issue();
  const client = await open('events');
  await client.activate(licenseKey);
  await client.setSharing(true);
  client.track('export_finished', { format: 'pdf' });
  assert.deepEqual(await client.flush(), { ok: true, sent: 1, rejected: 0 });
  assert.deepEqual(await client.check(), { ok: true });
  const { rows } = await service.pool.query(
    `select events.name, activations.usage_sharing
     from events join activations on activations.install_id = events.install_id`,
  );
  assert.deepEqual(rows, [{ name: 'export_finished', usage_sharing: true }]);
});
