/** The data of the start page, the search, trials, customers, machines and installs. */
import { randomUUID } from 'node:crypto';

import { runRollups } from '../../../server/src/features/analytics/rollups/run-rollups.ts';
import { createEventPartitions } from '../../../server/src/features/analytics/create-event-partitions.ts';
import { addEndpoint } from '../../../server/src/features/outgoing-webhooks/add-endpoint.ts';
import { activate, startTrial } from '../../../server/test/license-steps.ts';
import type { TestService } from '../../../server/test/harness.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../../../server/test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../server/test/payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../../../server/test/test-catalog.ts';
import type { World } from './create-world.ts';

/** Texts that a page must show as they are. */
export const HOSTILE = '<img src=x onerror="alert(1)"> مرحبا 😀';

const DAY_MS = 86_400_000;

/** A customer with a purchase, a machine, an install and events; trials in each state; 60 days of use; failures. */
export async function seedFind(service: TestService): Promise<World> {
  const bought = await buy(service);
  await sendEvents(service, bought['findInstall'] ?? '');
  await createTrials(service);
  await createUse(service);
  await createFailures(service);
  await runRollups(service.context, { signal: new AbortController().signal, everything: true });
  return bought;
}

async function buy(service: TestService): Promise<World> {
  const [transactionId, customerId] = [paddleId('txn'), paddleId('ctm')];
  const email = 'grace.hopper@example.com';
  const at = service.clock.now();
  const lines = [{ priceId: TEST_PRICES.sellers, cycle: null }];
  const customer = { customerId, email, name: HOSTILE, occurredAt: at };
  await deliverPaddle(service, paddleCustomer('created', customer));
  await deliverPaddle(
    service,
    paddleTransactionCompleted({ transactionId, customerId, lines, occurredAt: at }),
  );
  const { licenseKey, license } = await service.issue({
    customerEmail: email,
    customerName: HOSTILE,
  });
  const machineId = 'GRACE-WORKSTATION-01';
  const installId = randomUUID();
  const { activation_id: activationId } = await activate(service, licenseKey, {
    machine_id: machineId,
    os_version: 'macOS 15.1',
    app_version: '2.4.0',
  });
  await service.pool.query('update activations set install_id = $1 where id = $2', [
    installId,
    activationId,
  ]);
  await service.post('/api/v1/usage/heartbeat', {
    machine_id: machineId,
    machine_fingerprint: { machine_id: machineId, app_version: '2.4.0', os_version: 'macOS 15.1' },
  });
  await service.post('/api/v1/subscribers', { email });
  return {
    findEmail: email,
    findMachine: machineId,
    findInstall: installId,
    findLicense: license.id,
    findKey: licenseKey,
    findTransaction: transactionId,
  };
}

async function sendEvents(service: TestService, installId: string): Promise<void> {
  await createEventPartitions(service.pool, service.clock.now());
  const events = ['application_started', 'project_opened', 'export_finished', HOSTILE].map(
    (name) => ({
      event_id: randomUUID(),
      name: name === HOSTILE ? 'note_saved' : name,
      occurred_at: service.clock.now().toISOString(),
      props: { format: 'png', text: HOSTILE },
    }),
  );
  await service.post('/api/v1/events', {
    install_id: installId,
    session_id: randomUUID(),
    app_version: '2.4.0',
    os_version: 'macOS 15.1',
    events,
  });
}

async function createTrials(service: TestService): Promise<void> {
  for (let number = 1; number <= 12; number++) {
    const machineId = `TRIAL-MACHINE-${String(number).padStart(2, '0')}`;
    await startTrial(service, {
      machine_id: machineId,
      app_version: '2.4.0',
      os_version: 'Windows 11',
    });
    const started = new Date(service.clock.now().getTime() - number * 3 * DAY_MS);
    await service.pool.query(
      `with trial as (update activations set activated_at = $2, last_validated_at = $2::timestamptz + interval '1 day'
                      where machine_id = $1 returning license_id)
       update licenses set created_at = $2, expires_at = $2::timestamptz + interval '7 days'
       from trial where id = license_id`,
      [machineId, started],
    );
    if (number % 4 !== 0) continue;
    const { licenseKey } = await service.issue({
      customerEmail: `trial.${number}@example.com`,
    });
    const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
    const converted = new Date(started.getTime() + 2 * DAY_MS);
    await service.pool.query('update activations set activated_at = $2 where id = $1', [
      id,
      converted,
    ]);
  }
}

/** Licenses and machines of 60 days, with weekends. */
async function createUse({ clock, pool }: TestService): Promise<void> {
  const now = clock.now();
  await pool.query(
    `insert into licenses (id, product_id, tier, features, max_activations, key_sealed, key_hint, created_at)
     select gen_random_uuid(), 'personal', 'personal', '{}', 2, '', 'DEMO', $1::timestamptz - (number % 58) * interval '1 day'
     from generate_series(1, 140) as number
     where number % 58 < 30 or number % 3 > 0`,
    [now],
  );
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats)
     select md5('find ' || machine)::uuid, ($1::timestamptz - ago * interval '1 day')::date, $1, $1, 1
     from generate_series(1, 60) as ago, generate_series(1, 80) as machine
     where machine < (80 - ago / 2) * case when extract(isodow from $1::timestamptz - ago * interval '1 day') > 5 then 0.4 else 1 end`,
    [now],
  );
}

async function createFailures({ clock, context, pool }: TestService): Promise<void> {
  const at = new Date(clock.now().getTime() - 5 * 3_600_000);
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, headers, status, message, raw)
     select 'evt_failed_' || number, 'paddle', 'transaction.completed', $1, $1, '{}', 'failed', 'The data lack items.', '{}'
     from generate_series(1, 2) as number`,
    [at],
  );
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at, claimed_at)
     values ('txn_refused', 'paddle', 'refused', 'smtp_550', $1, $1)`,
    [at],
  );
  await addEndpoint(
    context,
    { url: 'https://crm.example.com/hooks', description: null, eventTypes: [] },
    { actor: 'test', reason: null },
  );
  await pool.query(
    `update webhook_endpoints set failing_since = $1 where url = 'https://crm.example.com/hooks'`,
    [at],
  );
}
