/** Compares the payments that were sent with the ledger, and their outcomes. */
import type { Pool } from 'pg';

import type { Paid } from './happenings.ts';
import type { WrittenEvent } from './writers/delivery.ts';
import { nameSale } from './writers/gumroad.ts';

/** How many payments have each outcome. */
export interface Outcomes {
  readonly license: number;
  readonly attention: number;
  readonly ignored: number;
}

interface StoredPayment {
  readonly status: string;
  readonly message: string | null;
  readonly total: number | null;
  readonly currency: string | null;
  readonly tax: number | null;
}

/** What the auditor knows of the shop. */
interface Known {
  /** Payments that nothing could be given for. */
  readonly unearned: ReadonlySet<Paid>;
  /** The numbers of buyers with a license. */
  readonly withLicense: ReadonlySet<number>;
}

/**
 * Audits the payments of events.
 * @param events all that were sent
 * @returns differences, a sentence each
 */
export async function auditPayments(
  pool: Pool,
  events: readonly WrittenEvent[],
  { unearned, withLicense }: Known,
): Promise<{ readonly outcomes: Outcomes; readonly differences: readonly string[] }> {
  const stored = await readPayments(pool);
  const outcomes = { license: 0, attention: 0, ignored: 0 };
  const differences: string[] = [];
  for (const { payment, eventId } of events) {
    if (payment === null || payment.amount === 0) continue;
    const row = stored.get(nameEvent(payment, eventId));
    const outcome = classify(row, withLicense.has(payment.buyer.number));
    const expected = unearned.has(payment)
      ? 'attention'
      : isGumroadGift(payment)
        ? 'ignored'
        : 'license';
    if (outcome !== null) outcomes[outcome] += 1;
    if (outcome !== expected) {
      const message = row?.message ?? '';
      differences.push(`${describe(payment)}: ${outcome ?? 'lost'}, not ${expected}: ${message}`);
    }
    if (row !== undefined && describeMoney(row) !== describeMoney(toStored(payment))) {
      differences.push(`${describe(payment)}: the ledger has ${describeMoney(row)}`);
    }
  }
  return { outcomes, differences: [...differences, ...(await listUnfinished(pool))] };
}

function describe(payment: Paid): string {
  const { buyer, number } = payment;
  const money = describeMoney(toStored(payment));
  return `payment ${number} of buyer ${buyer.number} at ${buyer.provider}, ${money}`;
}

/** The sale of its recipient has the license. */
function isGumroadGift({ buyer }: Paid): boolean {
  return buyer.provider === 'gumroad' && (buyer.giftTo ?? null) !== null;
}

function toStored({ amount, tax, buyer }: Paid): Money {
  return { total: amount, tax, currency: buyer.market.currency };
}

type Money = Pick<StoredPayment, 'total' | 'tax' | 'currency'>;

function describeMoney({ total, tax, currency }: Money): string {
  return `${total ?? 'nothing'} ${currency ?? ''} with a tax of ${tax ?? 0}`;
}

/** Exactly one of three; null: none. */
function classify(payment: StoredPayment | undefined, hasLicense: boolean): keyof Outcomes | null {
  if (payment === undefined) return null;
  const { status, message } = payment;
  const needsAttention = /^(?:Needs attention: |No product of the catalogue)/.test(message ?? '');
  if (needsAttention) return 'attention';
  if (status === 'ignored') return message === null ? null : 'ignored';
  return status === 'processed' && hasLicense ? 'license' : null;
}

/** The event of a look-up at Gumroad is named by the service, so its payment is found by the sale. */
function nameEvent(payment: Paid, eventId: string): string {
  return payment.buyer.provider === 'gumroad' ? nameSale(payment) : eventId;
}

async function readPayments(pool: Pool): Promise<ReadonlyMap<string, StoredPayment>> {
  const { rows } = await pool.query<StoredPayment & { name: string }>(
    `select case event.provider when 'gumroad' then paid.transaction_id else event.event_id end as name,
            event.status, event.message, (paid.fact->>'total')::float8 as total, paid.fact->>'currency' as currency,
            (paid.fact->>'tax')::float8 as tax
     from billing_events event
     join billing_payments paid on paid.event_id = event.event_id and paid.provider = event.provider`,
  );
  return new Map(rows.map(({ name, ...row }) => [name, row]));
}

/** Lists events that were stored, and neither applied nor ignored. */
async function listUnfinished(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select 'event ' || event_id || ' is ' || status || ': ' || coalesce(message, '') as line
     from billing_events where status not in ('processed', 'ignored')`,
  );
  return rows.map(({ line }) => line);
}
