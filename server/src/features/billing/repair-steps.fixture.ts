/** Steps of tests that repair payments of the own shop. */
import { standardEvent } from '../../../test/payment-providers/standard-webhooks-events.ts';
import type { TestService } from '../../../test/harness.ts';
import { CATALOG, testCatalog } from '../../../test/test-catalog.ts';
import { TEST_START } from '../../../test/test-clock.ts';
import { applyEvents } from './apply-events.ts';
import { standardWebhooksAdapter } from './providers/standard-webhooks/adapter.ts';
import type { Receipt } from './received-event.ts';
import { repairPayment, type Repair } from './repair-payment.ts';
import { showPaymentEvent } from './show-payment-event.ts';
import { replayEvents } from './stored-events.ts';

/** Who repairs, and why. */
export const WHO = { actor: 'operator:anna@example.com', reason: 'test' };

/** The test catalogue, with prices of the own shop. */
export function repairCatalog() {
  const text = CATALOG.replace('stripe: [price_personal]', 'standard: [personal]');
  return testCatalog(text.replace('stripe: [price_sellers]', 'standard: [sellers]'));
}

/** A license of a purchase, unless it is canceled. */
interface Sold {
  readonly id: string;
  readonly product_id: string;
  readonly max_activations: number;
  readonly customer_email: string | null;
  readonly refunded_at: Date | null;
  readonly expires_at: Date | null;
}

const keyOf = (id: string) => ({ provider: 'standard', event_id: id });

/** Returns the steps of a service. */
export function openRepairs({ context, pool }: TestService) {
  /** Applies an event of the own shop as its webhook would be. */
  const receive = async (
    id: string,
    type: string,
    data: Readonly<Record<string, unknown>>,
    at = TEST_START,
  ): Promise<Receipt | undefined> => {
    const raw = Buffer.from(JSON.stringify(standardEvent(type, data, at)));
    const headers = { 'webhook-id': id };
    const body: unknown = JSON.parse(raw.toString());
    const event = standardWebhooksAdapter.normalize(Object(body), { headers, rawBody: raw });
    const receivedAt = TEST_START;
    const [receipt] = await applyEvents(context, [{ ...event, receivedAt, raw, headers }]);
    return receipt;
  };
  /** A checkout of a price, with a new address. */
  const sell = (
    id: string,
    priceId: string | null,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Receipt | undefined> =>
    receive(id, 'purchase.completed', {
      transaction_id: `order-${id}`,
      customer: { id: `customer-${id}`, email: `${id}@example.com` },
      lines: priceId === null ? [] : [{ price_id: priceId }],
      total: 4_900,
      currency: 'EUR',
      ...more,
    });
  /** Stores an event whose payment cannot be read. */
  const fail = async (id: string): Promise<void> => {
    await pool.query(
      `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, message, attempts)
       values ($2, 'standard', 'purchase.completed', $1, $1, '{}', '{}', 'failed', 'no transaction', 1)`,
      [TEST_START, id],
    );
  };
  const soldBy = async (id: string): Promise<Sold[]> => {
    const { rows } = await pool.query<Sold>(
      `select l.id, product_id, max_activations, customer_email, refunded_at, expires_at
       from billing_licenses b join licenses l on l.id = b.license_id
       where b.transaction_id = $1 and l.canceled_at is null order by l.id`,
      [`order-${id}`],
    );
    return rows;
  };
  /** The licenses with an address. */
  const ownedBy = async (email: string): Promise<Sold[]> => {
    const { rows } = await pool.query<Sold>(
      `select id, product_id, max_activations, customer_email, refunded_at, expires_at
       from licenses where customer_email = $1 and canceled_at is null order by id`,
      [email],
    );
    return rows;
  };
  return {
    receive,
    sell,
    fail,
    soldBy,
    ownedBy,
    repair: (id: string, fact: Repair) => repairPayment(context, keyOf(id), fact, WHO),
    show: (id: string) => showPaymentEvent(context, keyOf(id)),
    replay: async (id: string): Promise<void> => {
      const filter = { eventId: id, provider: 'standard', status: null, since: null };
      await replayEvents(context, { ...WHO, filter }, () => undefined);
    },
  };
}
