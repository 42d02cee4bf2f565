import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { readBody } from './acceptance/bodies.ts';
import type { TestService } from './harness.ts';
import { activate } from './license-steps.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from './payment-providers/paddle-events.ts';
import { deliverPaddle } from './payment-providers/paddle-steps.ts';
import { TEST_PRICES } from './test-catalog.ts';

export interface Bought {
  readonly email: string;
  readonly transactionId: string;
  readonly licenseId: string;
  readonly machineId: string;
  readonly installId: string;
}

/** A customer with a purchase, a machine with an install and a heartbeat, and the newsletter. */
export async function buyLicense(service: TestService): Promise<Bought> {
  const [transactionId, customerId] = [paddleId('txn'), paddleId('ctm')];
  const email = `Ada.${randomUUID()}@example.com`;
  const lines = [{ priceId: TEST_PRICES.personal, cycle: null }];
  await deliverPaddle(service, paddleCustomer('created', { customerId, email }));
  await deliverPaddle(service, paddleTransactionCompleted({ transactionId, customerId, lines }));
  const [machineId, installId] = [`machine-${randomUUID()}`, randomUUID()];
  const { body } = await service.get(`/api/v1/licenses/check/${transactionId}`);
  const checked = readBody(body);
  const { activation_id: activationId } = await activate(service, String(checked['license_key']), {
    machine_id: machineId,
  });
  const { rows } = await service.pool.query<{ license_id: string }>(
    'update activations set install_id = $1 where id = $2 returning license_id',
    [installId, activationId],
  );
  const heartbeat = { machine_id: machineId, machine_fingerprint: { machine_id: machineId } };
  await service.post('/api/v1/usage/heartbeat', heartbeat);
  await service.post('/api/v1/subscribers', { email });
  return { email, transactionId, licenseId: rows[0]?.license_id ?? '', machineId, installId };
}

/** Sends events of an install, with one property each. */
export async function sendEvents(
  service: TestService,
  installId: string,
  names: readonly string[],
): Promise<void> {
  const events = names.map((name) => ({
    event_id: randomUUID(),
    name,
    occurred_at: service.clock.now().toISOString(),
    props: { plan: '<b>pro</b>' },
  }));
  const batch = { install_id: installId, session_id: randomUUID(), app_version: '1.0', events };
  const answer = await service.post('/api/v1/events', batch);
  assert.equal(answer.status, 200, answer.text);
}

/** Returns who did what to a subject, and why, in the order of time. */
export async function listAudit(service: TestService, subjectId: string): Promise<unknown[]> {
  const { rows } = await service.pool.query(
    'select actor, action, reason from audit_log where subject_id = $1 order by sequence',
    [subjectId],
  );
  return rows;
}
