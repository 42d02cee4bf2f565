import assert from 'node:assert/strict';
import { test } from 'node:test';

import { StartupError } from '#server/config/startup-error.ts';
import { createVault } from '#server/lib/vault.ts';

import { startTestService } from '../harness.ts';
import { activate, anyMachine, listMachines, startTrial } from '../license-steps.ts';

const OTHER_SECRET = 'quite another secret, of 32 bytes or more';

test('the service refuses to start with another master secret, with the reason', async () => {
  const service = await startTestService();
  await assert.rejects(
    startTestService({ beside: service, masterSecret: OTHER_SECRET }),
    (error) => error instanceof StartupError && /LATCHKEY_SECRET/.test(error.message),
  );
});

test('another master secret decrypts no key, finds no key and recognizes no machine', async () => {
  const service = await startTestService();
  const machine = anyMachine();
  const { license, licenseKey } = await service.issue();
  await activate(service, licenseKey, machine);
  const trial = await startTrial(service, machine);
  // The start would fail with the signing key; all other rows stay.
  await service.pool.query('truncate signing_keys');
  const otherService = await startTestService({ beside: service, masterSecret: OTHER_SECRET });

  const other = createVault(OTHER_SECRET);
  assert.throws(() => other.open(license.keySealed, `license:${license.id}`));
  const refused = await otherService.post('/api/v1/licenses/activate', {
    license_key: licenseKey,
    machine_fingerprint: machine,
  });
  assert.equal(refused.status, 404);
  const granted = await startTrial(otherService, machine);
  assert.notEqual(granted.license_key, trial.license_key);
  assert.equal((await listMachines(service, licenseKey)).length, 1);
});
