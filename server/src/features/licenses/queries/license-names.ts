import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

/** A name by which a purchase finds a license from elsewhere. */
export interface LicenseName {
  readonly licenseId: string;
  readonly kind: 'transaction' | 'subscription' | 'renewal';
  readonly name: string;
  /** Null: any provider. */
  readonly provider: string | null;
}

const insertStatement = defineCommand(
  'license_name_insert_many',
  `insert into license_names (license_id, kind, name, provider)
   select license_id, kind, name, provider
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as new (license_id, kind, name, provider)
   on conflict (license_id, kind, name) do nothing`,
);

/** Stores the names of licenses from elsewhere. */
export async function insertLicenseNames(
  db: Queryable,
  names: readonly LicenseName[],
): Promise<void> {
  await execute(db, insertStatement, toColumns(names, ['licenseId', 'kind', 'name', 'provider']));
}

const Adoptable = Type.Object({
  licenseId: Type.String(),
  kind: Type.Enum(['transaction', 'subscription', 'renewal']),
  name: Type.String(),
  provider: Type.String(),
  productId: Type.String(),
  maxActivations: Type.Integer(),
  subscription: Type.Boolean(),
  expiresAt: Nullable.Timestamp,
  customerEmail: Nullable.Text,
});

/** A license from elsewhere that a purchase names, with the purchase's provider. */
export type AdoptableRow = Readonly<Static<typeof Adoptable>>;

const listStatement = defineStatement(
  'license_name_list_adoptable',
  Adoptable,
  `select distinct l.id as "licenseId", names.kind, names.name, input.provider, coalesce(sale.product_id, l.product_id) as "productId",
          coalesce(sale.machines, l.max_activations) as "maxActivations", l.subscription,
          case when sale.license_id is null then l.expires_at else sale.ends_at end as "expiresAt",
          l.customer_email as "customerEmail"
   from unnest($1::text[], $2::text[], $3::text[]) as input (provider, kind, name)
   join license_names names on names.name = input.name and names.kind = input.kind
     and (names.provider is null or names.provider = input.provider)
   join licenses l on l.id = names.license_id
   left join billing_sales sale on sale.license_id = l.id and sale.price_id = ''
   where not exists (select from billing_licenses billed where billed.license_id = names.license_id and not billed.renews)
   order by l.id`,
);

/** Lists the licenses without a line of a purchase that created them, as they were before a purchase renewed them, that have one of the names, oldest first. */
export async function listAdoptableLicenses(
  db: Queryable,
  names: readonly { readonly provider: string; readonly kind: string; readonly name: string }[],
): Promise<AdoptableRow[]> {
  return queryRows(db, listStatement, toColumns(names, ['provider', 'kind', 'name']));
}

const PaidElsewhere = Type.Object({
  provider: Type.String(),
  transactionId: Type.String(),
  licenseId: Type.String(),
});

/** A license from elsewhere, and the transaction that paid it there. */
type PaidElsewhere = Readonly<Static<typeof PaidElsewhere>>;

const listPaidStatement = defineStatement(
  'license_name_list_paid',
  PaidElsewhere,
  `select input.provider, input.transaction_id as "transactionId", l.id as "licenseId"
   from unnest($1::text[], $2::text[]) as input (provider, transaction_id)
   join license_names names on names.name = input.transaction_id and names.kind = 'transaction'
     and (names.provider is null or names.provider = input.provider)
   join licenses l on l.id = names.license_id
   where l.revoked_at is null
   order by l.id`,
);

/** Lists the licenses from elsewhere that name the transactions, without revoked ones, oldest first. */
export async function listLicensesPaidElsewhere(
  db: Queryable,
  transactions: readonly { readonly provider: string; readonly transactionId: string }[],
): Promise<PaidElsewhere[]> {
  return queryRows(db, listPaidStatement, toColumns(transactions, ['provider', 'transactionId']));
}
