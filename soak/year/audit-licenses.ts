/** Compares what the books say that buyers must have with their licenses. */
import type { Pool } from 'pg';

import type { Books, Expected } from './books.ts';
import { toDay } from './happenings.ts';

/** A license as it is stored. */
export interface StoredLicense {
  readonly buyer: number;
  readonly product_id: string;
  readonly max_activations: number;
  readonly customer_email: string | null;
  readonly expires_at: Date | null;
  readonly updates_until: Date | null;
  readonly refunded_at: Date | null;
  readonly canceled_at: Date | null;
  readonly paused_at: Date | null;
  readonly disputed_at: Date | null;
}

type Aspects = Omit<Expected, 'keys'>;

const ASPECTS = [
  'product',
  'machines',
  'email',
  'until',
  'updatesUntil',
  'isRefunded',
  'isCanceled',
  'isPaused',
  'isDisputed',
] as const satisfies readonly (keyof Aspects)[];

/** Times are rounded to seconds. */
const TOLERANCE_DAYS = 1 / 1_000;

/** Reads all licenses that were sold. */
export async function readLicenses(pool: Pool): Promise<StoredLicense[]> {
  const { rows } = await pool.query<Omit<StoredLicense, 'buyer'> & { transaction_id: string }>(
    `select (array_agg(billed.transaction_id order by billed.transaction_id))[1] as transaction_id, l.product_id,
            l.max_activations, l.customer_email, l.expires_at, l.updates_until, l.refunded_at, l.canceled_at, l.paused_at,
            l.disputed_at
     from licenses l join billing_licenses billed on billed.license_id = l.id
     group by l.id`,
  );
  return rows.map(({ transaction_id: id, ...row }) => ({ ...row, buyer: readBuyer(id) }));
}

/** The kind of an id, and its number; those of checkouts (2) and orders (3) contain the number of the payment. */
const POLAR_ID = /^(\d)0{7}-0000-4000-8000-(\d{12})$/;

/** Ids contain the number of their buyer. */
function readBuyer(transactionId: string): number {
  const [, counted, last] = POLAR_ID.exec(transactionId) ?? [];
  if (last !== undefined)
    return Math.floor(Number(last) / (counted === '2' || counted === '3' ? 1_000 : 1));
  const [kind = '', number = ''] = transactionId.split(/[_:]/).slice(-3);
  if (kind === 'invoice' || kind === 'order') return Math.floor(Number(number) / 1_000);
  return Number(number);
}

/** Audits the licenses of all buyers. @returns differences, a sentence each */
export function auditLicenses(
  accounts: readonly Books[],
  licenses: readonly StoredLicense[],
): string[] {
  const ofBuyer = Map.groupBy(licenses, ({ buyer }) => buyer);
  const known = new Set(accounts.map(({ buyer }) => buyer.number));
  const others = licenses.filter(({ buyer }) => !known.has(buyer));
  return [
    ...accounts.flatMap((account) =>
      compareAccount(account, ofBuyer.get(account.buyer.number) ?? []),
    ),
    ...others.map(({ buyer }) => `a license is of buyer ${buyer}, whom the shop does not have`),
  ];
}

function compareAccount(account: Books, licenses: readonly StoredLicense[]): string[] {
  const expected = account.expect();
  const { number, provider } = account.buyer;
  const name = `buyer ${number} at ${provider} of ${account.plan.name}`;
  const keys = expected?.keys ?? 0;
  if (licenses.length !== keys) return [`${name} has ${licenses.length} keys, not ${keys}`];
  if (expected === null) return [];
  return licenses
    .map(read)
    .flatMap((found) =>
      ASPECTS.filter((key) => !isSame(found[key], expected[key])).map(
        (key) => `${name}: ${key} is ${String(found[key])}, not ${String(expected[key])}`,
      ),
    );
}

function read(license: StoredLicense): Aspects {
  return {
    product: license.product_id,
    machines: license.max_activations,
    email: license.customer_email,
    until: license.expires_at === null ? null : toDay(license.expires_at),
    updatesUntil: license.updates_until === null ? null : toDay(license.updates_until),
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
