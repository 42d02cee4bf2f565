import { Type } from 'typebox';

import {
  Nullable,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';
import { toColumns } from '#server/db/to-columns.ts';

import type { BillingProvider, CustomerDetails } from '../facts.ts';
import type { LedgerEntry } from '../rules/group-purchases.ts';
import type { BilledLine } from '../rules/plan-licenses.ts';
import { readStoredFact } from './stored-facts.ts';

/** Something that belongs to purchases, by the provider's id. */
export interface LedgerReference {
  readonly provider: string;
  readonly kind: 'transaction' | 'subscription' | 'customer';
  readonly id: string;
}

const Provider = Type.Unsafe<BillingProvider>(Type.String());

const listStatement = defineStatement(
  'billing_purchase_list_entries',
  Type.Object({ provider: Provider, event_id: Type.String(), fact: Type.String() }),
  `with recursive reached (provider, kind, id) as (
     select provider, kind, id from unnest($1::text[], $2::text[], $3::text[]) as named (provider, kind, id)
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
   select p.provider, p.event_id, p.fact::text
   from reached join billing_payments p on p.transaction_id = reached.id and p.provider = reached.provider
   where reached.kind = 'transaction'
   union all
   select s.provider, s.event_id, s.fact::text
   from reached join billing_subscriptions s on s.subscription_id = reached.id and s.provider = reached.provider
   where reached.kind = 'subscription'
   union all
   select a.provider, a.event_id, a.fact::text
   from reached join billing_adjustments a on a.transaction_id = reached.id and a.provider = reached.provider
   where reached.kind = 'transaction'`,
);

/**
 * All entries of the purchases that some names lead to: from a checkout to its subscription, from there to every renewal,
 * from a customer to all of it.
 */
export async function listPurchaseEntries(
  db: Queryable,
  names: readonly LedgerReference[],
): Promise<LedgerEntry[]> {
  const rows = await queryRows(db, listStatement, toColumns(names, ['provider', 'kind', 'id']));
  return rows.map((row) => ({
    provider: row.provider,
    eventId: row.event_id,
    fact: readStoredFact(row.fact),
  }));
}

const listLicensesStatement = defineStatement(
  'billing_license_list',
  Type.Object({
    provider: Type.String(),
    transaction_id: Type.String(),
    line_key: Type.String(),
    license_id: Type.String(),
  }),
  `select made.provider, made.transaction_id, made.line_key, made.license_id
   from unnest($1::text[], $2::text[]) as wanted (provider, transaction_id)
   join billing_licenses made on made.transaction_id = wanted.transaction_id and made.provider = wanted.provider
   order by made.license_id`,
);

/** The licenses that checkouts made, the oldest first. */
export async function listBilledLines(
  db: Queryable,
  transactions: readonly Pick<BilledLine, 'provider' | 'transactionId'>[],
): Promise<BilledLine[]> {
  const rows = await queryRows(
    db,
    listLicensesStatement,
    toColumns(transactions, ['provider', 'transactionId']),
  );
  return rows.map((row) => ({
    provider: row.provider,
    transactionId: row.transaction_id,
    lineKey: row.line_key,
    licenseId: row.license_id,
  }));
}

const listOfLicenseStatement = defineStatement(
  'billing_license_list_transactions',
  Type.Object({ provider: Provider, transaction_id: Type.String() }),
  'select distinct provider, transaction_id from billing_licenses where license_id = $1',
);

/** The transactions that made a license; none for one that nobody bought. */
export async function listTransactionsOfLicense(
  db: Queryable,
  licenseId: string,
): Promise<LedgerReference[]> {
  const rows = await queryRows(db, listOfLicenseStatement, [licenseId]);
  return rows.map((row) => ({
    provider: row.provider,
    kind: 'transaction',
    id: row.transaction_id,
  }));
}

const insertLicensesStatement = defineCommand(
  'billing_license_insert',
  `insert into billing_licenses (provider, transaction_id, line_key, license_id)
   select provider, transaction_id, line_key, license_id
   from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as made (provider, transaction_id, line_key, license_id)
   on conflict (transaction_id, provider, line_key) do nothing`,
);

/** Records which license a line made; what is recorded stays. */
export async function insertBilledLines(
  db: Queryable,
  lines: readonly BilledLine[],
): Promise<void> {
  await execute(
    db,
    insertLicensesStatement,
    toColumns(lines, ['provider', 'transactionId', 'lineKey', 'licenseId']),
  );
}

const listCustomersStatement = defineStatement(
  'billing_customer_list',
  Type.Object({
    provider: Type.String(),
    customer_id: Type.String(),
    email: Nullable.Text,
    name: Nullable.Text,
    locale: Nullable.Text,
  }),
  `select known.provider, known.customer_id, known.email, known.name, known.locale
   from unnest($1::text[], $2::text[]) as wanted (provider, customer_id)
   join billing_customers known on known.customer_id = wanted.customer_id and known.provider = wanted.provider`,
);

/** What is known of customers. */
export async function listCustomers(
  db: Queryable,
  customers: readonly { readonly provider: string; readonly customerId: string }[],
): Promise<(CustomerDetails & { readonly provider: string; readonly customerId: string })[]> {
  const rows = await queryRows(
    db,
    listCustomersStatement,
    toColumns(customers, ['provider', 'customerId']),
  );
  return rows.map(({ customer_id: customerId, ...row }) => ({ ...row, customerId }));
}
