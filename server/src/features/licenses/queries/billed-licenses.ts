import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import { COLUMNS, LicenseRow, fromRow, type LicenseRecord } from './licenses.ts';

const PREFIXED_COLUMNS = COLUMNS.replaceAll(/(\w+)/g, 'l.$1');

/** The facts of a license that billing sets; operators set all others. */
export interface BilledFacts {
  readonly id: string;
  /** Null: unchanged. */
  readonly terms: BilledTerms | null;
  readonly subscription: boolean;
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
  /** Null: unchanged. */
  readonly customerEmail: string | null;
  /** Null: unchanged. */
  readonly customerName: string | null;
}

/** The terms under which a product is sold. */
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
 * Updates the facts that billing sets, and returns the changed licenses. Manual changes stay, and so does an end that an
 * operator moved beyond the paid period.
 */
export async function updateBilledLicenses(
  db: Queryable,
  billed: readonly BilledFacts[],
): Promise<LicenseRecord[]> {
  const rows = await queryRows(db, updateStatement, [
    JSON.stringify(
      billed.map(({ terms, ...license }) => ({
        id: license.id,
        product_id: terms?.productId ?? null,
        tier: terms?.tier ?? null,
        features: terms?.features ?? null,
        max_activations: terms?.maxActivations ?? null,
        subscription: license.subscription,
        expires_at: license.expiresAt,
        cancel_scheduled_for: license.cancelScheduledFor,
        canceled_at: license.canceledAt,
        paused_at: license.pausedAt,
        disputed_at: license.disputedAt,
        refunded_at: license.refundedAt,
        customer_email: license.customerEmail,
        customer_name: license.customerName,
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

/** Cancels the licenses that are not canceled yet, and returns them. */
export async function cancelLicenses(
  db: Queryable,
  ids: readonly string[],
  canceledAt: Date,
): Promise<LicenseRecord[]> {
  return (await queryRows(db, cancelStatement, [ids, canceledAt])).map(fromRow);
}
