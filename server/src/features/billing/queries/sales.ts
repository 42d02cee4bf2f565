import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

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
  `insert into billing_sales (license_id, price_id, product_id, machines, duration_days, has_fixed_end, ends_at, total, currency, sold_at,
                              updates_days, quantity_as)
   select *
   from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::boolean[], $7::timestamptz[],
               $8::bigint[], $9::text[], $10::timestamptz[], $11::integer[], $12::text[])
   on conflict (license_id, price_id) do nothing`,
);

/** Stores what was sold; a sale that is stored stays as it is. */
export async function insertSales(db: Queryable, sales: readonly NewSale[]): Promise<void> {
  await execute(db, insertStatement, [
    ...toColumns(sales, [
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
    sales.map(({ updatesDays = null }) => updatesDays),
    sales.map(({ quantityAs = 'machines' }) => quantityAs),
  ]);
}

const SoldProduct = Type.Object({ licenseId: Type.String(), productId: Type.String() });

const listProductsStatement = defineStatement(
  'billing_sale_list_products',
  SoldProduct,
  'select distinct license_id, product_id from billing_sales where license_id = any($1::uuid[]) order by 1, 2',
);

/** Lists the products that licenses were sold as, also by purchases that were refunded or are disputed. */
export async function listSoldProducts(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<Static<typeof SoldProduct>[]> {
  return queryRows(db, listProductsStatement, [licenseIds]);
}

const listStatement = defineStatement(
  'billing_sale_list_licenses',
  Type.Object({ id: Type.String() }),
  `select distinct license_id as id from billing_sales
   where $1::uuid is null or license_id > $1
   order by license_id limit $2`,
);

/** Lists licenses that were sold, by id. @param after the last one of the page before; null for the first page */
export async function listSoldLicenses(
  db: Queryable,
  after: string | null,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, listStatement, [after, limit])).map(({ id }) => id);
}

const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);

const takeStatement = defineStatement(
  'billing_sale_take_many',
  Type.Object({
    licenseId: Type.String(),
    priceId: Type.String(),
    productId: Type.String(),
    machines: NullableInteger,
    durationDays: NullableInteger,
    updatesDays: NullableInteger,
    hasFixedEnd: Type.Boolean(),
    endsAt: Nullable.Timestamp,
    total: Type.Union([Type.Number(), Type.Null()]),
    currency: Nullable.Text,
    soldAt: Timestamp,
    quantityAs: Type.Enum(['machines', 'keys']),
  }),
  `delete from billing_sales
   where license_id = any ($1::uuid[])
     and (price_id <> '' or exists (
       select from billing_licenses billed where billed.license_id = billing_sales.license_id and not billed.renews
     ))
   returning license_id, price_id, product_id, machines, duration_days, has_fixed_end, ends_at, total, currency, sold_at,
             updates_days, quantity_as`,
);

/** Deletes what was sold with licenses, and returns it. What a renewed license was before stays. */
export async function takeSales(db: Queryable, licenseIds: readonly string[]): Promise<NewSale[]> {
  const rows = await queryRows(db, takeStatement, [licenseIds]);
  return rows.map(({ quantityAs, ...sale }) => ({ ...sale, ...toQuantityAs(quantityAs) }));
}

/** Returns the field of a sale by its column: absent for machines. */
export function toQuantityAs(quantityAs: 'machines' | 'keys'): Pick<Sale, 'quantityAs'> {
  return quantityAs === 'keys' ? { quantityAs } : {};
}
