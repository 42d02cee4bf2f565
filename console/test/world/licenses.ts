import { randomUUID } from 'node:crypto';

import { writeLicenseActivity } from '../../../server/src/features/licenses/activity.ts';
import {
  revokeLicense,
  suspendLicense,
} from '../../../server/src/features/licenses/change-license.ts';
import { payment } from '../../../server/src/features/billing/rules/facts.fixture.ts';
import { freeMachine } from '../../../server/src/features/licenses/free-machine.ts';
import { refreshLicenseActivity } from '../../../server/src/features/licenses/queries/license-activity.ts';
import type { TestOrder, TestService } from '../../../server/test/harness.ts';
import { activate, startTrial } from '../../../server/test/license-steps.ts';
import type { World } from './create-world.ts';
import { HOSTILE } from './sales.ts';

/** An address with markup in its quoted local part. */
const HOSTILE_EMAIL = '"<img/src=x/onerror=alert(1)>"@example.com';

const DAY_MS = 86_400_000;
const by = { actor: 'operator:anna@example.com', reason: 'The customer asked for it' };

/** Licenses in many states; the first one is at its limit, and has a long timeline. */
export async function seedLicenses(service: TestService): Promise<World> {
  const inDays = (days: number): Date => new Date(service.clock.now().getTime() + days * DAY_MS);
  const ann = await issue(service, 'Ann Example', 'ann@example.com', {
    transactionId: 'txn_01ann',
  });
  await fillMachines(service, ann);
  await addPurchase(service, ann.id, inDays(-20));
  const bob = await issue(service, 'Bob Müller', 'bob@example.com', {
    productId: 'yearly',
    updatesUntil: inDays(120),
  });
  await activate(service, bob.key, { machine_id: 'bobs-laptop', os_version: '15.1' });
  const eve = await issue(service, 'Eve Martin', 'eve@example.com', { productId: 'sellers' });
  await revokeLicense(service.context, { keyOrId: eve.id, ...by });
  const kim = await issue(service, null, 'kim@example.com', {});
  await suspendLicense(service.context, { keyOrId: kim.id, ...by });
  await issue(service, 'Late Payer', 'late@example.com', {
    productId: 'yearly',
    subscription: true,
    expiresAt: inDays(-3),
  });
  await issue(service, 'Max Soon', 'max@example.com', { expiresAt: inDays(9) });
  await issue(service, 'Old Friend', 'old@example.com', { expiresAt: inDays(-90) });
  const hostile = await issue(service, `Hostile ${HOSTILE}`, HOSTILE_EMAIL, {});
  await startTrial(service, { machine_id: randomUUID() });
  await rollUp(service);
  return {
    licenseId: ann.id,
    workingLicenseId: bob.id,
    revokedLicenseId: eve.id,
    hostileLicenseId: hostile.id,
  };
}

interface Issued {
  readonly id: string;
  readonly key: string;
}

async function issue(
  service: TestService,
  customerName: string | null,
  customerEmail: string,
  order: TestOrder,
): Promise<Issued> {
  const issued = await service.issue({ customerName, customerEmail, ...order });
  return { id: issued.license.id, key: issued.licenseKey };
}

function machine(name: string) {
  return { machine_id: name, os_version: '15.1', app_version: '2.4.0' };
}

/** Two machines, one that was freed, and refused activations; one of each runs without a connection. */
async function fillMachines(service: TestService, { id, key }: Issued): Promise<void> {
  const old = await activate(service, key, machine('old-desktop'));
  await freeMachine(service.context, { licenseId: id, activationId: old.activation_id, ...by });
  await activate(service, key, machine('anns-macbook'));
  await activate(service, key, machine('studio-workstation'));
  await service.pool.query(
    `update activations set airgapped_until = now() + interval '80 days'
     where license_id = $1 and machine_id in ('old-desktop', 'studio-workstation')`,
    [id],
  );
  for (const name of ['new-laptop', 'new-laptop', 'new-laptop']) {
    await service.post('/api/v1/licenses/activate', {
      license_key: key,
      machine_fingerprint: { machine_id: name },
    });
  }
}

/** A purchase with its events, e-mail and webhooks. */
async function addPurchase({ pool }: TestService, id: string, at: Date): Promise<void> {
  await pool.query(`insert into billing_licenses values ('txn_01ann', 'paddle', '1', $1)`, [id]);
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, headers, status, raw)
     select 'evt_ann_' || n, 'paddle', case when n = 1 then 'transaction.completed' else 'transaction.updated' end,
            $1::timestamptz + n * interval '1 second', $1, '{}', 'processed', ''
     from generate_series(1, 3) n`,
    [at],
  );
  await pool.query(
    `insert into billing_payments (transaction_id, provider, event_id, occurred_at, fact)
     select 'txn_01ann', 'paddle', 'evt_ann_' || n, $1, $2 from generate_series(1, 3) n`,
    [at, JSON.stringify(payment({ transactionId: 'txn_01ann', occurredAt: at }))],
  );
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at, sent_at) values ('txn_01ann', 'paddle', 'sent', $1, $2)`,
    [at, new Date(at.getTime() + 60_000)],
  );
  await pool.query(
    `insert into webhook_messages (id, type, license_id, payload, created_at)
     select 'msg_ann_' || n, 'activation.added', $1, '{}', $2::timestamptz + n * interval '1 hour' from generate_series(1, 4) n`,
    [id, at],
  );
}

async function rollUp({ context, pool }: TestService): Promise<void> {
  await writeLicenseActivity(context);
  const { rows } = await pool.query<{ id: string }>('select id from licenses');
  await refreshLicenseActivity(
    pool,
    rows.map(({ id }) => id),
  );
}
