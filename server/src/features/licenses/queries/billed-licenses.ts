import { Type } from 'typebox';

import {
  columnsOf,
  defineStatement,
  queryRows,
  toJsonRows,
  type Queryable,
} from '#server/db/statement.ts';

import { LicenseRow, type LicenseRecord } from './licenses.ts';

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
  /** Null: unchanged. */
  readonly tier: string | null;
  /** Null: unchanged. */
  readonly features: readonly string[] | null;
  readonly maxActivations: number;
}

/** The columns of {@link BilledFacts}. */
const BILLED_COLUMNS = [
  'product_id',
  'tier',
  'features',
  'max_activations',
  'subscription',
  'expires_at',
  'cancel_scheduled_for',
  'canceled_at',
  'paused_at',
  'disputed_at',
  'refunded_at',
  'customer_email',
  'customer_name',
];

const billedOf = (table: string): string =>
  BILLED_COLUMNS.map((column) => `${table}.${column}`).join(', ');

// The rows before the update are those of the statement's snapshot: only those that change are read.
const updateStatement = defineStatement(
  'license_update_billed',
  Type.Object({ ...LicenseRow.properties, isBefore: Type.Boolean() }),
  `with updated as (
   update licenses as l
   set (${BILLED_COLUMNS.join(', ')}) = row (${billedOf('next')})
   from (
     select l.id,
            coalesce(billed.product_id, l.product_id) as product_id, coalesce(billed.tier, l.tier) as tier,
            coalesce(billed.features, l.features) as features,
            greatest(coalesce(billed.max_activations, l.max_activations), l.granted_activations) as max_activations,
            billed.subscription,
            case when billed.expires_at is not null and l.extended_until is distinct from 'infinity'
              then greatest(billed.expires_at, l.extended_until)
            end as expires_at,
            billed.cancel_scheduled_for, billed.canceled_at, billed.paused_at, billed.disputed_at, billed.refunded_at,
            case when l.owner_changed_at is null then coalesce(billed.customer_email, l.customer_email)
              else l.customer_email
            end as customer_email,
            case when l.owner_changed_at is null then coalesce(billed.customer_name, l.customer_name)
              else l.customer_name
            end as customer_name
     from jsonb_populate_recordset(null::licenses, $1::jsonb) as billed
     join licenses l on l.id = billed.id
     order by l.id
   ) as next
   where l.id = next.id and (${billedOf('l')}) is distinct from (${billedOf('next')})
   returning ${columnsOf(LicenseRow, 'l')}
   )
   select ${columnsOf(LicenseRow)}, false as is_before from updated
   union all
   select ${columnsOf(LicenseRow, 'l')}, true from updated join licenses l on l.id = updated.id`,
);

/** A changed license with its previous state. */
export interface ChangedLicense {
  readonly license: LicenseRecord;
  readonly before: LicenseRecord;
}

/**
 * Updates the facts that billing sets, and returns the licenses that changed. Manual changes remain: also an expiry
 * that an operator extended beyond the paid period, a limit of machines above the paid one, and a changed customer.
 */
export async function updateBilledLicenses(
  db: Queryable,
  billed: readonly BilledFacts[],
): Promise<ChangedLicense[]> {
  const parameters = billed.map(({ terms, ...facts }) => ({ ...facts, ...terms }));
  const rows = await queryRows(db, updateStatement, [toJsonRows(parameters)]);
  const previous = new Map<string, LicenseRecord>();
  for (const { isBefore, ...license } of rows) if (isBefore) previous.set(license.id, license);
  return rows.flatMap(({ isBefore, ...license }) => {
    const before = previous.get(license.id);
    return isBefore || before === undefined ? [] : [{ license, before }];
  });
}

const cancelStatement = defineStatement(
  'license_cancel_many',
  LicenseRow,
  `update licenses as l set canceled_at = $2
   where l.id = any ($1::uuid[]) and l.canceled_at is null
   returning ${columnsOf(LicenseRow, 'l')}`,
);

/** Cancels the licenses that are not canceled yet, and returns them. */
export async function cancelLicenses(
  db: Queryable,
  ids: readonly string[],
  canceledAt: Date,
): Promise<LicenseRecord[]> {
  return queryRows(db, cancelStatement, [ids, canceledAt]);
}
