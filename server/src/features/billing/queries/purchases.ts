import { Type, type Static } from 'typebox';

import {
  Nullable,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  Timestamp,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import { parseStoredFact, type BillingProvider } from '../facts.ts';
import type { LedgerEntry } from '../rules/group-purchases.ts';
import type { Sale } from '../rules/find-sale.ts';
import type { BilledLine, Checkout } from '../rules/plan-licenses.ts';
import { toQuantityAs } from './sales.ts';

/** Identifies a transaction. */
export interface TransactionKey {
  readonly provider: string;
  readonly transactionId: string;
}

/** Identifies a customer. */
export interface CustomerKey {
  readonly provider: string;
  readonly customerId: string;
}

/** A reference into the ledgers, which leads to purchases. */
export interface LedgerReference {
  readonly provider: string;
  readonly kind: 'transaction' | 'subscription' | 'customer';
  readonly id: string;
}

const Provider = Type.Unsafe<BillingProvider>(Type.String());

const listStatement = defineStatement(
  'billing_purchase_list_entries',
  Type.Object({ provider: Provider, eventId: Type.String(), fact: Type.String() }),
  `with recursive reached (provider, kind, id) as (
     select provider, kind, id from unnest($1::text[], $2::text[], $3::text[]) as reference (provider, kind, id)
     union
     select reached.provider, linked.kind, linked.id
     from reached
     cross join lateral (
       select 'subscription', p.subscription_id from billing_payments p
       where reached.kind = 'transaction' and p.transaction_id = reached.id and p.provider = reached.provider
       union all
       select 'subscription', s.subscription_id from billing_subscriptions s
       where reached.kind = 'transaction' and s.transaction_id = reached.id and s.provider = reached.provider
       union all
       select 'transaction', p.transaction_id from billing_payments p
       where reached.kind = 'subscription' and p.subscription_id = reached.id and p.provider = reached.provider
       union all
       select 'transaction', s.transaction_id from billing_subscriptions s
       where reached.kind = 'subscription' and s.subscription_id = reached.id and s.provider = reached.provider
       union all
       select 'transaction', p.transaction_id from billing_payments p
       where reached.kind = 'customer' and p.customer_id = reached.id and p.provider = reached.provider
       union all
       select 'subscription', s.subscription_id from billing_subscriptions s
       where reached.kind = 'customer' and s.customer_id = reached.id and s.provider = reached.provider
       union all
       select 'transaction', a.transaction_id from billing_aliases a
       where reached.kind = 'transaction' and a.alias = reached.id and a.provider = reached.provider
       union all
       select 'transaction', a.alias from billing_aliases a
       where reached.kind = 'transaction' and a.transaction_id = reached.id and a.provider = reached.provider
     ) as linked (kind, id)
     where linked.id is not null
   )
   select p.provider, p.event_id as "eventId", p.fact::text
   from reached join billing_payments p on p.transaction_id = reached.id and p.provider = reached.provider
   where reached.kind = 'transaction'
   union all
   select s.provider, s.event_id, s.fact::text
   from reached join billing_subscriptions s on s.subscription_id = reached.id and s.provider = reached.provider
   where reached.kind = 'subscription'
   union all
   select a.provider, a.event_id, a.fact::text
   from reached join billing_adjustments a on a.transaction_id = reached.id and a.provider = reached.provider
   where reached.kind = 'transaction'
   union all
   select r.provider, r.repair_id::text, r.fact::text
   from reached join billing_repairs r on r.transaction_id = reached.id and r.provider = reached.provider
   where reached.kind = 'transaction' and exists (select from billing_repairs)`,
);

/**
 * Lists all entries of the purchases that references lead to: from a checkout to its subscription, from there to every
 * renewal, from a customer to all purchases.
 */
export async function listPurchaseEntries(
  db: Queryable,
  references: readonly LedgerReference[],
): Promise<LedgerEntry[]> {
  const columns = toColumns(references, ['provider', 'kind', 'id']);
  const rows = await queryRows(db, listStatement, columns);
  return rows.map((row) => ({ ...row, fact: parseStoredFact(row.fact) }));
}

const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);

/** A line and one of its sales; the columns of the sale are null if nothing is recorded. */
const LineRow = Type.Object({
  provider: Type.String(),
  transactionId: Type.String(),
  lineKey: Type.String(),
  licenseId: Type.String(),
  renews: Type.Boolean(),
  checkouts: Type.Array(Type.String()),
  priceId: Nullable.Text,
  productId: Nullable.Text,
  machines: NullableInteger,
  durationDays: NullableInteger,
  updatesDays: NullableInteger,
  hasFixedEnd: Nullable.Boolean,
  quantityAs: Type.Union([Type.Enum(['machines', 'keys']), Type.Null()]),
  endsAt: Nullable.Timestamp,
});

// A row for each sale takes PostgreSQL less time than an array of JSON for each line.
const listLicensesStatement = defineStatement(
  'billing_license_list',
  LineRow,
  `select billed.provider, billed.transaction_id, billed.line_key, billed.license_id, billed.renews,
          array(
            select origin.position || ' ' || origin.transaction_id
            from license_transactions origin where origin.license_id = billed.license_id
          ) as checkouts,
          sale.price_id, sale.product_id, sale.machines, sale.duration_days, sale.updates_days, sale.has_fixed_end,
          sale.quantity_as, sale.ends_at
   from unnest($1::text[], $2::text[]) as input (provider, transaction_id)
   join billing_licenses billed on billed.transaction_id = input.transaction_id and billed.provider = input.provider
   left join billing_sales sale on sale.license_id = billed.license_id
   order by billed.license_id, sale.price_id`,
);

/** Lists the licenses created for transactions with what was sold and their checkouts, oldest first. */
export async function listBilledLines(
  db: Queryable,
  transactions: readonly TransactionKey[],
): Promise<BilledLine[]> {
  const keys = toColumns(transactions, ['provider', 'transactionId']);
  const rows = await queryRows(db, listLicensesStatement, keys);
  const lines = Map.groupBy(
    rows,
    ({ provider, transactionId, lineKey }) => `${provider} ${transactionId} ${lineKey}`,
  );
  return [...lines.values()].flatMap((ofLine) => toLine(ofLine) ?? []);
}

function toLine(rows: readonly Static<typeof LineRow>[]): BilledLine | null {
  const [first] = rows;
  if (first === undefined) return null;
  const { provider, transactionId, lineKey, licenseId, renews } = first;
  return {
    provider,
    transactionId,
    lineKey,
    licenseId,
    renews,
    sales: rows.flatMap((row) => toSale(row) ?? []),
    checkouts: first.checkouts.map(toCheckout),
  };
}

function toSale(row: Static<typeof LineRow>): Sale | null {
  const { priceId, productId, machines, durationDays, updatesDays, hasFixedEnd, endsAt } = row;
  if (priceId === null || productId === null || hasFixedEnd === null) return null;
  const quantityAs = toQuantityAs(row.quantityAs ?? 'machines');
  const end = { hasFixedEnd, endsAt };
  return { priceId, productId, machines, durationDays, updatesDays, ...end, ...quantityAs };
}

function toCheckout(text: string): Checkout {
  const [position = ''] = text.split(' ', 1);
  return { transactionId: text.slice(position.length + 1), position: Number(position) };
}

const listOfLicenseStatement = defineStatement(
  'billing_license_list_transactions',
  Type.Object({ provider: Provider, id: Type.String() }),
  'select provider, transaction_id as id from billing_licenses where license_id = $1 group by 1, 2 order by bool_and(renews), 2',
);

/** Lists the transactions that created or renewed a license, those that created it first; empty if it was not bought. */
export async function listTransactionsOfLicense(
  db: Queryable,
  licenseId: string,
): Promise<LedgerReference[]> {
  const rows = await queryRows(db, listOfLicenseStatement, [licenseId]);
  return rows.map((row) => ({ ...row, kind: 'transaction' }));
}

const insertLicensesStatement = defineCommand(
  'billing_license_insert',
  `insert into billing_licenses (provider, transaction_id, line_key, license_id)
   select provider, transaction_id, line_key, license_id
   from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as input (provider, transaction_id, line_key, license_id)
   on conflict (transaction_id, provider, line_key) do nothing`,
);

/** Records the license of each line; an existing record stays unchanged. */
export async function insertBilledLines(
  db: Queryable,
  lines: readonly Omit<BilledLine, 'sales'>[],
): Promise<void> {
  const columns = toColumns(lines, ['provider', 'transactionId', 'lineKey', 'licenseId']);
  await execute(db, insertLicensesStatement, columns);
}

const listSharedStatement = defineStatement(
  'billing_license_list_shared',
  Type.Object({ provider: Provider, id: Type.String() }),
  `select distinct billed.provider, billed.transaction_id as id
   from billing_licenses billed
   where billed.license_id = any ($1::uuid[] || array(
     select license_id from billing_licenses renewal where renewal.renews and renewal.license_id = any ($2::uuid[])
   ))`,
);

/**
 * Lists the transactions of licenses that several purchases share.
 * @param renewed licenses that a purchase is about to renew
 * @param licenseIds of which those count that a purchase has renewed
 */
export async function listSharedTransactions(
  db: Queryable,
  renewed: readonly string[],
  licenseIds: readonly string[],
): Promise<LedgerReference[]> {
  const rows = await queryRows(db, listSharedStatement, [renewed, licenseIds]);
  return rows.map((row) => ({ ...row, kind: 'transaction' }));
}

const adoptLicensesStatement = defineCommand(
  'billing_license_adopt',
  `insert into billing_licenses (provider, transaction_id, line_key, license_id, renews)
   select provider, transaction_id, line_key, license_id, renews
   from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::boolean[])
     as input (provider, transaction_id, line_key, license_id, renews)
   on conflict (transaction_id, provider, line_key) do update
   set license_id = excluded.license_id, renews = excluded.renews`,
);

/** Records the adopted or renewed license of each line, in place of one that was created before the license was known. */
export async function replaceBilledLines(
  db: Queryable,
  lines: readonly Omit<BilledLine, 'sales'>[],
): Promise<void> {
  const columns = toColumns(lines, ['provider', 'transactionId', 'lineKey', 'licenseId']);
  await execute(db, adoptLicensesStatement, [
    ...columns,
    lines.map(({ renews }) => renews === true),
  ]);
}

const StoredCustomer = Type.Object({
  provider: Type.String(),
  customerId: Type.String(),
  email: Nullable.Text,
  name: Nullable.Text,
  locale: Nullable.Text,
  occurredAt: Timestamp,
});

/** The stored details of a customer. */
export type StoredCustomer = Readonly<Static<typeof StoredCustomer>>;

const listCustomersStatement = defineStatement(
  'billing_customer_list',
  StoredCustomer,
  `select customer.provider, customer.customer_id as "customerId", customer.email, customer.name, customer.locale, customer.occurred_at as "occurredAt"
   from unnest($1::text[], $2::text[]) as input (provider, customer_id)
   join billing_customers customer on customer.customer_id = input.customer_id and customer.provider = input.provider`,
);

/** Lists the stored details of customers. */
export async function listCustomers(
  db: Queryable,
  customers: readonly CustomerKey[],
): Promise<StoredCustomer[]> {
  const keys = toColumns(customers, ['provider', 'customerId']);
  return queryRows(db, listCustomersStatement, keys);
}
