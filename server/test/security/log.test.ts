import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';
import { encodingsOf, exerciseService } from './confidential-values.ts';

test('logs no key, address, fingerprint, transaction or token at any level', async () => {
  const service = await startTestService();
  const secrets = await exerciseService(service);
  // The database rejects this row, and its error quotes the row.
  await service.pool.query('alter table activations add check (machine_digest is null) not valid');
  const { licenseKey } = await service.issue();
  const refused = await service.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: { machine_id: secrets.machineIds[0], board: secrets.fingerprintValues[0] },
  });
  assert.equal(refused.status, 500);
  // The database does not exist any more.
  await service.database.drop();
  const unanswered = await service.post('/api/v1/licenses/validate', {
    license_key: licenseKey,
    activation_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
    machine_id: secrets.machineIds[0],
  });
  assert.ok(unanswered.status >= 500);

  const log = service.log.join('');
  // The log does contain requests by route, and the internal errors.
  assert.match(log, /"route":"\/api\/v1\/licenses\/activate","status":500/);
  assert.match(log, /violates check constraint/);
  assert.match(log, /"route":"\/api\/v1\/licenses\/:license_key\/activations"/);
  assert.match(log, /"route":"\/api\/v1\/licenses\/check\/:transaction_id"/);
  for (const secret of [...Object.values(secrets).flat(), licenseKey]) {
    for (const spelling of encodingsOf(secret)) {
      assert.ok(!log.includes(spelling), `the log contains ${spelling}`);
    }
  }
});

test('answers of internal errors contain no key and no cause', async () => {
  const service = await startTestService();
  const { licenseKey } = await service.issue();
  await service.pool.query('alter table licenses rename to licenses_gone');
  const answers = [
    await service.post('/api/v1/licenses/activate', {
      license_key: licenseKey,
      machine_fingerprint: { machine_id: 'm' },
    }),
    await service.get(`/api/v1/licenses/${licenseKey}/activations`),
    await service.get('/api/v1/licenses/check/txn_1'),
    await service.post('/api/v1/trial/start', { machine_fingerprint: { machine_id: 'm' } }),
  ];
  for (const { status, text } of answers) {
    assert.equal(status, 500);
    assert.doesNotMatch(text, /licenses_gone|relation|select|insert|\.ts|LK-/);
  }
});
