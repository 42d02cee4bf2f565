/** Compares the books of the shop with what the service stored. */
import type { Pool } from 'pg';

import type { Account, Expected } from './books.ts';
import { toDay, type Paid } from './happenings.ts';
import type { WrittenEvent } from './writers/delivery.ts';

/** What was found. */
export interface YearReport {
  readonly payments: number;
  /** In cents. */
  readonly paid: number;
  readonly outcomes: {
    readonly license: number;
    readonly attention: number;
    readonly ignored: number;
  };
  readonly licenses: number;
  /** Differences from the books, a sentence each. */
  readonly differences: readonly string[];
}

interface StoredLicense {
  readonly buyer: number;
  readonly product_id: string;
  readonly expires_at: Date | null;
  readonly refunded_at: Date | null;
  readonly canceled_at: Date | null;
  readonly paused_at: Date | null;
  readonly disputed_at: Date | null;
}

const ASPECTS = ['product', 'until', 'isRefunded', 'isCanceled', 'isPaused', 'isDisputed'] as const;

/** Times are rounded to seconds. */
const TOLERANCE_DAYS = 1 / 1_000;

/** Audits the year. @param events all that were sent */
export async function auditYear(
  pool: Pool,
  accounts: readonly Account[],
  events: readonly WrittenEvent[],
): Promise<YearReport> {
  const licenses = await readLicenses(pool);
  const ofBuyer = Map.groupBy(licenses, ({ buyer }) => buyer);
  const differences = accounts.flatMap((account) =>
    compareLicense(account, ofBuyer.get(account.buyer.number) ?? []),
  );
  const unearned = new Set(accounts.flatMap((account) => [...account.unearned]));
  const isSold = new Set(ofBuyer.keys());
  const outcomes = { license: 0, attention: 0, ignored: 0 };
  const stored = await readOutcomes(pool);
  const payments = events.filter(({ payment }) => payment !== null && payment.amount > 0);
  let paid = 0;
  for (const event of payments) {
    if (event.payment === null) continue;
    paid += event.payment.amount;
    const row = stored.get(event.eventId);
    const outcome = classify(row, isSold.has(event.payment.buyer.number));
    const expected = unearned.has(event.payment) ? 'attention' : 'license';
    if (outcome !== null) outcomes[outcome] += 1;
    if (outcome !== expected) {
      differences.push(
        `${describe(event.payment)}: ${outcome ?? 'lost'}, not ${expected}: ${row?.message ?? ''}`,
      );
    }
    if (row?.total !== event.payment.amount) {
      differences.push(`${describe(event.payment)}: ${row?.total ?? 'nothing'} in the ledger`);
    }
  }
  return { payments: payments.length, paid, outcomes, licenses: licenses.length, differences };
}

function describe({ buyer, number, amount }: Paid): string {
  return `payment ${number} of buyer ${buyer.number} at ${buyer.provider}, ${amount} cents`;
}

interface StoredOutcome {
  readonly status: string;
  readonly message: string | null;
  readonly total: number | null;
}

/** Exactly one of three; null: none. */
function classify(
  outcome: StoredOutcome | undefined,
  hasLicense: boolean,
): 'license' | 'attention' | 'ignored' | null {
  if (outcome === undefined) return null;
  const { status, message } = outcome;
  const needsAttention = /^(?:Needs attention: |No product of the catalogue)/.test(message ?? '');
  if (needsAttention) return 'attention';
  if (status === 'ignored') return message === null ? null : 'ignored';
  return status === 'processed' && hasLicense ? 'license' : null;
}

async function readOutcomes(pool: Pool): Promise<ReadonlyMap<string, StoredOutcome>> {
  const { rows } = await pool.query<StoredOutcome & { event_id: string }>(
    `select event.event_id, event.status, event.message, (paid.fact->>'total')::float8 as total
     from billing_events event
     join billing_payments paid on paid.event_id = event.event_id and paid.provider = event.provider`,
  );
  return new Map(rows.map(({ event_id: id, ...row }) => [id, row]));
}

async function readLicenses(pool: Pool): Promise<StoredLicense[]> {
  const { rows } = await pool.query<Omit<StoredLicense, 'buyer'> & { transaction_id: string }>(
    `select (array_agg(billed.transaction_id order by billed.transaction_id))[1] as transaction_id, l.product_id, l.expires_at,
            l.refunded_at, l.canceled_at, l.paused_at, l.disputed_at
     from licenses l join billing_licenses billed on billed.license_id = l.id
     group by l.id`,
  );
  return rows.map(({ transaction_id: id, ...row }) => ({ ...row, buyer: readBuyer(id) }));
}

/** The kind of an id, and its number; those of orders (3) contain the number of the payment. */
const POLAR_ID = /^(\d)0{7}-0000-4000-8000-(\d{12})$/;

/** Ids contain the number of their buyer. */
function readBuyer(transactionId: string): number {
  const [, counted, last] = POLAR_ID.exec(transactionId) ?? [];
  if (last !== undefined) return Math.floor(Number(last) / (counted === '3' ? 1_000 : 1));
  const [kind = '', number = ''] = transactionId.split(/[_:]/).slice(-3);
  if (kind === 'invoice' || kind === 'order') return Math.floor(Number(number) / 1_000);
  return Number(number);
}

function compareLicense(account: Account, licenses: readonly StoredLicense[]): string[] {
  const expected = account.expect();
  const name = `buyer ${account.buyer.number} at ${account.buyer.provider}`;
  const wanted = expected === null ? 0 : 1;
  const [license] = licenses;
  if (licenses.length !== wanted || license === undefined || expected === null) {
    return licenses.length === wanted ? [] : [`${name} has ${licenses.length} keys, not ${wanted}`];
  }
  const found = read(license);
  const differs = ASPECTS.filter((key) => !isSame(found[key], expected[key]));
  return differs.map(
    (key) => `${name}: ${key} is ${String(found[key])}, not ${String(expected[key])}`,
  );
}

function read(license: StoredLicense): Expected {
  return {
    product: license.product_id,
    until: license.expires_at === null ? null : toDay(license.expires_at),
    isRefunded: license.refunded_at !== null,
    isCanceled: license.canceled_at !== null,
    isPaused: license.paused_at !== null,
    isDisputed: license.disputed_at !== null,
  };
}

function isSame(found: unknown, expected: unknown): boolean {
  return typeof found === 'number' && typeof expected === 'number'
    ? Math.abs(found - expected) <= TOLERANCE_DAYS
    : found === expected;
}
