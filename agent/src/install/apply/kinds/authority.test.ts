import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeHost } from '../../../../test/fake-host.ts';
import { paths } from '../../paths.ts';
import type { Step } from '../../steps.ts';
import { applyPlan } from '../apply-plan.ts';
import { uninstall } from '../undo.ts';

const REGISTER = `${paths.authority}/register.json`;
const steps: readonly Step[] = [
  { kind: 'authority', domain: 'monitor.example.test', withProxyCertificate: true },
];
const order = { steps, installed: '{}\n', verify: async () => undefined };
const everything = { keepsConfiguration: false };

async function fail(): Promise<never> {
  throw new Error('nobody answers');
}

/** Returns a verification that fails after an administrator has issued a certificate. */
function issueAndFail(host: FakeHost): () => Promise<void> {
  return async () => {
    host.write(REGISTER, '["anna"]', 0o600);
    throw new Error('nobody answers');
  };
}

test('the undo of an installation keeps an authority that has issued certificates since', async () => {
  using host = new FakeHost();
  await assert.rejects(applyPlan({ ...order, verify: issueAndFail(host) }, host.open()));
  assert.equal(host.read(REGISTER), '["anna"]');
  assert.match(host.reports.join(' '), /client certificates were issued or revoked since/u);
});

test('the undo of an installation removes an authority that has issued nothing', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  await assert.rejects(applyPlan({ ...order, verify: fail }, host.open()));
  assert.deepEqual(host.snapshot(), before);
});

test('an uninstallation does not restore a register without the certificates issued since', async () => {
  using host = new FakeHost();
  host.write(REGISTER, '["anna"]', 0o600);
  await applyPlan(order, host.open());
  host.write(REGISTER, '["anna","bob"]', 0o600);
  await uninstall(everything, host.open());
  assert.equal(host.read(REGISTER), '["anna","bob"]');
});

test('an uninstallation removes an authority that the installation created', async () => {
  using host = new FakeHost();
  const before = host.snapshot();
  await applyPlan(order, host.open());
  host.write(REGISTER, '["anna"]', 0o600);
  await uninstall(everything, host.open());
  assert.deepEqual(host.snapshot(), before);
});
