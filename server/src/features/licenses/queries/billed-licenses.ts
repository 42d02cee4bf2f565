import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { COLUMNS, LicenseRow, fromRow, type LicenseRecord } from './licenses.ts';

const PREFIXED_COLUMNS = COLUMNS.replaceAll(/(\w+)/g, 'l.$1');

const insertStatement = defineCommand(
  'license_insert_many',
  `insert into licenses (id, product_id, tier, features, max_activations, subscription, expires_at,
                         cancel_scheduled_for, canceled_at, paused_at, disputed_at, refunded_at,
                         key_sealed, key_hint, customer_email, customer_name, created_at, reveal_until)
   select id, product_id, tier, features, max_activations, subscription, expires_at,
          cancel_scheduled_for, canceled_at, paused_at, disputed_at, refunded_at,
          decode(key_sealed, 'base64'), key_hint, customer_email, customer_name, created_at, reveal_until
   from jsonb_to_recordset($1::jsonb) as made (
     id uuid, product_id text, tier text, features text[], max_activations integer, subscription boolean,
     expires_at timestamptz, cancel_scheduled_for timestamptz, canceled_at timestamptz, paused_at timestamptz,
     disputed_at timestamptz, refunded_at timestamptz, key_sealed text, key_hint text,
     customer_email text, customer_name text, created_at timestamptz, reveal_until timestamptz)`,
);

/** Stores new licenses. */
export async function insertLicenses(
  db: Queryable,
  licenses: readonly LicenseRecord[],
): Promise<void> {
  const made = licenses.map((license) => ({
    ...toBilledColumns(license),
    product_id: license.productId,
    tier: license.tier,
    features: license.features,
    max_activations: license.maxActivations,
    key_sealed: license.keySealed.toString('base64'),
    key_hint: license.keyHint,
    created_at: license.createdAt,
    reveal_until: license.revealUntil,
  }));
  await execute(db, insertStatement, [JSON.stringify(made)]);
}

/** What billing decides about a license; everything else on it is up to the operator. */
export interface BilledFacts {
  readonly id: string;
  /** What is sold under it; null: as it was. */
  readonly terms: BilledTerms | null;
  readonly subscription: boolean;
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  /** Null: as it was. */
  readonly customerEmail: string | null;
  /** Null: as it was. */
  readonly customerName: string | null;
}

/** A product as it is sold, and for how many machines. */
export interface BilledTerms {
  readonly productId: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
}

const updateStatement = defineStatement(
  'license_update_billed',
  LicenseRow,
  `update licenses as l
   set product_id = next.product_id, tier = next.tier, features = next.features,
       max_activations = next.max_activations, subscription = next.subscription, expires_at = next.expires_at,
       cancel_scheduled_for = next.cancel_scheduled_for, canceled_at = next.canceled_at, paused_at = next.paused_at,
       disputed_at = next.disputed_at, refunded_at = next.refunded_at,
       customer_email = next.customer_email, customer_name = next.customer_name
   from (
     select l.id,
            coalesce(billed.product_id, l.product_id) as product_id, coalesce(billed.tier, l.tier) as tier,
            coalesce(billed.features, l.features) as features,
            coalesce(billed.max_activations, l.max_activations) as max_activations, billed.subscription,
            case when billed.expires_at is not null and l.extended_until is distinct from 'infinity'
              then greatest(billed.expires_at, l.extended_until)
            end as expires_at,
            billed.cancel_scheduled_for, billed.canceled_at, billed.paused_at, billed.disputed_at, billed.refunded_at,
            coalesce(billed.customer_email, l.customer_email) as customer_email,
            coalesce(billed.customer_name, l.customer_name) as customer_name
     from jsonb_to_recordset($1::jsonb) as billed (
       id uuid, product_id text, tier text, features text[], max_activations integer, subscription boolean,
       expires_at timestamptz, cancel_scheduled_for timestamptz, canceled_at timestamptz, paused_at timestamptz,
       disputed_at timestamptz, refunded_at timestamptz, customer_email text, customer_name text)
     join licenses l on l.id = billed.id
     order by l.id
   ) as next
   where l.id = next.id
     and (l.product_id, l.tier, l.features, l.max_activations, l.subscription, l.expires_at, l.cancel_scheduled_for,
          l.canceled_at, l.paused_at, l.disputed_at, l.refunded_at, l.customer_email, l.customer_name)
       is distinct from
         (next.product_id, next.tier, next.features, next.max_activations, next.subscription, next.expires_at,
          next.cancel_scheduled_for, next.canceled_at, next.paused_at, next.disputed_at, next.refunded_at,
          next.customer_email, next.customer_name)
   returning ${PREFIXED_COLUMNS}`,
);

/**
 * Writes what billing decides about licenses, and gives those that this changed as they are now. What an operator set by
 * hand stays; so does an end that an operator moved beyond what was paid.
 */
export async function updateBilledLicenses(
  db: Queryable,
  billed: readonly BilledFacts[],
): Promise<LicenseRecord[]> {
  const rows = await queryRows(db, updateStatement, [
    JSON.stringify(
      billed.map(({ terms, ...license }) => ({
        ...toBilledColumns(license),
        product_id: terms?.productId ?? null,
        tier: terms?.tier ?? null,
        features: terms?.features ?? null,
        max_activations: terms?.maxActivations ?? null,
      })),
    ),
  ]);
  return rows.map(fromRow);
}

const cancelStatement = defineStatement(
  'license_cancel_many',
  LicenseRow,
  `update licenses as l set canceled_at = $2
   where l.id = any ($1::uuid[]) and l.canceled_at is null
   returning ${PREFIXED_COLUMNS}`,
);

/** Cancels licenses that are not canceled yet and gives them. */
export async function cancelLicenses(
  db: Queryable,
  ids: readonly string[],
  canceledAt: Date,
): Promise<LicenseRecord[]> {
  return (await queryRows(db, cancelStatement, [ids, canceledAt])).map(fromRow);
}

function toBilledColumns(license: Omit<BilledFacts, 'terms'>) {
  return {
    id: license.id,
    subscription: license.subscription,
    expires_at: license.expiresAt,
    cancel_scheduled_for: license.cancelScheduledFor,
    canceled_at: license.canceledAt,
    paused_at: license.pausedAt,
    disputed_at: license.disputedAt,
    refunded_at: license.refundedAt,
    customer_email: license.customerEmail,
    customer_name: license.customerName,
  };
}
