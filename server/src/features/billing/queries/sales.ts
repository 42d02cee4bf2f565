import { defineCommand, execute, toColumns, type Queryable } from '#server/db/statement.ts';

import type { Sale } from '../rules/find-sale.ts';

/** A sale of a license, to be stored. */
export interface NewSale extends Sale {
  readonly licenseId: string;
  /** In the currency's smallest unit; null: not reported. */
  readonly total: number | null;
  readonly currency: string | null;
  readonly soldAt: Date;
}

const insertStatement = defineCommand(
  'billing_sale_insert_many',
  `insert into billing_sales (license_id, price_id, product_id, machines, duration_days, has_fixed_end, ends_at, total, currency, sold_at)
   select *
   from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::boolean[], $7::timestamptz[],
               $8::bigint[], $9::text[], $10::timestamptz[])
   on conflict (license_id, price_id) do nothing`,
);

/** Stores what was sold; a sale that is stored stays as it is. */
export async function insertSales(db: Queryable, sales: readonly NewSale[]): Promise<void> {
  await execute(
    db,
    insertStatement,
    toColumns(sales, [
      'licenseId',
      'priceId',
      'productId',
      'machines',
      'durationDays',
      'hasFixedEnd',
      'endsAt',
      'total',
      'currency',
      'soldAt',
    ]),
  );
}
