import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const KnownSale = Type.Object({
  saleId: Type.String(),
  /** Whether the refund is of the whole sale; null: no refund is known. */
  isFullRefund: Type.Union([Type.Boolean(), Type.Null()]),
  /** Null: no dispute is known. */
  disputeStatus: Nullable.Text,
});

/** What the ledger has of a sale at Gumroad. */
export type KnownSale = Readonly<Static<typeof KnownSale>>;

const newest = (name: string) =>
  `select a.fact from billing_adjustments a
      where a.transaction_id = sale.id and a.adjustment_id = '${name}:' || sale.id and a.provider in ('gumroad', 'gumroad:test')
      order by a.occurred_at desc, a.event_id desc limit 1`;

const listStatement = defineStatement(
  'billing_gumroad_sale_list_known',
  KnownSale,
  `select sale.id as "saleId",
     ((${newest('refund')})->>'full')::boolean as "isFullRefund",
     (${newest('dispute')})->>'status' as "disputeStatus"
   from unnest($1::text[]) as sale (id)
   where exists (
     select from billing_payments p where p.transaction_id = sale.id and p.provider in ('gumroad', 'gumroad:test'))`,
);

/** Returns those of the sales that were booked, with their newest refund and dispute. */
export async function listKnownSales(
  db: Queryable,
  saleIds: readonly string[],
): Promise<KnownSale[]> {
  return queryRows(db, listStatement, [saleIds]);
}

const findFirstStatement = defineStatement(
  'billing_gumroad_find_first_receipt',
  Type.Object({ receivedAt: Timestamp }),
  `select received_at as "receivedAt" from billing_events where provider = 'gumroad' order by received_at limit 1`,
);

/** Returns when the first event of Gumroad was received, or null. */
export async function findFirstGumroadReceipt(db: Queryable): Promise<Date | null> {
  return (await queryRow(db, findFirstStatement, []))?.receivedAt ?? null;
}
