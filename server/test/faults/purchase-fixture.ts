import assert from 'node:assert/strict';

import { LicenseCheckResponse, WebhookResponse } from '@latchkey/contract';
import type { Pool } from 'pg';
import { Parse } from 'typebox/value';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { eventually } from '../eventually.ts';
import { createExternalHome } from '../external-service.ts';
import { readParts, startMailRelay, type MailRelay } from '../mail-relay.ts';
import {
  paddleCustomer,
  paddleDelivery,
  paddleId,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../payment-providers/paddle-events.ts';
import type { ServiceProcess, Settings } from '../service-process.ts';
import { TEST_PRICES } from '../test-catalog.ts';

const SECRET = 'pdl_ntfset_of_a_service_that_is_killed';

const CONCURRENCY = 20;

/** The database and mail relay of the services that are killed. */
export interface PurchaseFixture extends AsyncDisposable {
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly relay: MailRelay;
  start(more?: Settings): Promise<ServiceProcess>;
}

/** The events of a purchase of one license. */
export interface Purchase {
  readonly transactionId: string;
  readonly email: string;
  /** Contains the address. */
  readonly customer: PaddleEvent;
  readonly payment: PaddleEvent;
}

export async function openPurchaseFixture(): Promise<PurchaseFixture> {
  await using resources = new AsyncDisposableStack();
  const external = resources.use(await createExternalHome());
  const relay = await startMailRelay();
  resources.defer(() => relay.close());
  const databaseUrl = external.settings['DATABASE_URL'] ?? '';
  const pool = createPool(
    { url: databaseUrl },
    { maxConnections: 2, log: createLog({ level: 'silent' }) },
  );
  resources.defer(() => pool.end());
  const kept = resources.move();
  return {
    pool,
    databaseUrl,
    relay,
    start: (more = {}) =>
      external.start({
        LATCHKEY_BILLING_SECRETS: SECRET,
        LATCHKEY_SMTP_URL: relay.url,
        LATCHKEY_MAIL_FROM: 'shop@example.com',
        ...more,
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Creates purchases of different buyers. */
export function createPurchases(count: number): Purchase[] {
  return Array.from({ length: count }, () => {
    const ids = { transactionId: paddleId('txn'), customerId: paddleId('ctm') };
    const email = `${ids.customerId}@example.com`;
    const lines = [{ priceId: TEST_PRICES.personal }];
    return {
      transactionId: ids.transactionId,
      email,
      customer: paddleCustomer('created', {
        occurredAt: new Date(),
        customerId: ids.customerId,
        email,
      }),
      payment: paddleTransactionCompleted({
        occurredAt: new Date(),
        ...ids,
        lines,
      }),
    };
  });
}

/** The response to a delivery; null if there was none. */
export async function deliver(
  { url }: Pick<ServiceProcess, 'url'>,
  event: PaddleEvent,
): Promise<WebhookResponse['status'] | null> {
  const { body, headers } = paddleDelivery(event, { secret: SECRET, at: new Date() });
  const init = { method: 'POST', body, headers };
  try {
    const response = await fetch(`${url}/api/v1/webhooks/billing`, init);
    assert.equal(response.status, 200);
    return Parse(WebhookResponse, await response.json()).status;
  } catch (error) {
    // The service was killed before it responded.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Delivers with limited concurrency; returns the responses. */
export async function deliverAll(
  service: Pick<ServiceProcess, 'url'>,
  events: readonly PaddleEvent[],
): Promise<Set<Awaited<ReturnType<typeof deliver>>>> {
  const became = new Set<Awaited<ReturnType<typeof deliver>>>();
  const left = events.values();
  const sending = Array.from({ length: CONCURRENCY }, async () => {
    for (const event of left) became.add(await deliver(service, event));
  });
  await Promise.all(sending);
  return became;
}

/** Expires the claims of the killed processes. */
export async function expireClaims(pool: Pool): Promise<void> {
  await pool.query(
    `update jobs
     set run_at = least(run_at, now()), leased_until = leased_until - interval '5 minutes'`,
  );
  await pool.query(`update key_emails set claimed_at = claimed_at - interval '5 minutes'`);
}

/**
 * Delivers all events until all are duplicates, runs the jobs, and asserts that each purchase has one license with one
 * key, and that its buyer received one e-mail with that key.
 * @param earlier number of purchases of this shop for which that was asserted before
 */
export async function assertOneLicenseAndEmailEach(
  { pool, relay }: PurchaseFixture,
  service: ServiceProcess,
  purchases: readonly Purchase[],
  earlier = 0,
): Promise<void> {
  const events = purchases.flatMap(({ customer, payment }) => [customer, payment]);
  assert.ok(!(await deliverAll(service, events)).has(null));
  assert.deepEqual(await deliverAll(service, events), new Set(['duplicate']));
  await eventually(async () => (await countOpenMailJobs(pool)) === 0, { timeoutMs: 30_000 });

  const all = earlier + purchases.length;
  assert.deepEqual(await countRows(pool), {
    events: 2 * all,
    licenses: all,
    keys: all,
    sold: all,
    sent: all,
    emails: all,
  });
  assert.equal(relay.mails.length, all);
  const received = new Set(relay.mails.map(({ to }) => to.join()));
  assert.equal(received.size, all);
  for (const { transactionId, email } of purchases) {
    const response = await fetch(`${service.url}/api/v1/licenses/check/${transactionId}`);
    const checked = Parse(LicenseCheckResponse, await response.json());
    assert.deepEqual([checked.status, checked.licenses?.length], ['active', 1]);
    const mail = relay.mails.find(({ to }) => to.includes(email));
    assert.ok(mail !== undefined && readParts(mail).includes(checked.license_key ?? 'no key'));
  }
}

async function countOpenMailJobs(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(
    `select count(*)::integer as open from jobs
     where name = 'send_key_email' and attempts < max_attempts`,
  );
  return rows[0]?.open ?? 0;
}

async function countRows(pool: Pool): Promise<unknown> {
  const { rows } = await pool.query(
    `select (select count(*)::integer from billing_events where status = 'processed') as events,
            (select count(*)::integer from licenses) as licenses,
            (select count(*)::integer from license_keys) as keys,
            (select count(distinct transaction_id)::integer from billing_licenses) as sold,
            (select count(*)::integer from key_emails where state = 'sent' and cardinality(license_ids) = 1) as sent,
            (select count(*)::integer from key_emails) as emails`,
  );
  return rows[0];
}
