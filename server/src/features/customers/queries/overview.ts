import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  columnsOf,
  defineStatement,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';

import { StatusRow } from '../../licenses/facts.ts';
import type { Address, CustomerKey } from '../facts.ts';

/** A customer with more rows of one kind is rare; the export has all of them. */
export const MAX_ROWS = 200;

const LicenseRow = Type.Object({
  ...StatusRow.properties,
  keyHint: Type.String(),
  customerName: Nullable.Text,
  maxActivations: Type.Integer(),
  createdAt: Timestamp,
});

const CountedLicenseRow = Type.Object({
  ...LicenseRow.properties,
  activeMachines: Type.Integer(),
});

/** A license of a customer, with the facts of its status. */
export type CustomerLicense = Readonly<Static<typeof CountedLicenseRow>>;

/** `offset 0` prevents that PostgreSQL walks all licenses, the newest first, to find those of one customer. */
const licensesStatement = defineStatement(
  'customer_show_licenses',
  CountedLicenseRow,
  `select ${columnsOf(LicenseRow, 'l')},
          (select count(*)::int from activations where license_id = l.id and deactivated_at is null) as active_machines
   from (select * from licenses where lower(customer_email) = any ($1::text[]) offset 0) as l
   order by l.id desc limit ${MAX_ROWS}`,
);

/** Lists the licenses of a customer, newest first. @param spellings of the address, in lower case */
export async function listLicensesOf(
  db: Queryable,
  spellings: readonly string[],
): Promise<CustomerLicense[]> {
  return queryRows(db, licensesStatement, [spellings]);
}

const AccountRow = Type.Object({
  provider: Type.String(),
  customerId: Type.String(),
  name: Nullable.Text,
  locale: Nullable.Text,
});

/** A customer of a payment provider. */
export type CustomerAccount = Readonly<Static<typeof AccountRow>>;

const accountsStatement = defineStatement(
  'customer_show_accounts',
  AccountRow,
  `select provider, customer_id, name, locale from billing_customers
   where lower(email) = any ($1::text[]) order by occurred_at desc limit ${MAX_ROWS}`,
);

/** Lists the customers of payment providers with an address. */
export async function listAccountsOf(
  db: Queryable,
  spellings: readonly string[],
): Promise<CustomerAccount[]> {
  return queryRows(db, accountsStatement, [spellings]);
}

const PaymentRow = Type.Object({
  transactionId: Type.String(),
  provider: Type.String(),
  origin: Type.String(),
  total: Type.Union([Type.Number(), Type.Null()]),
  currency: Nullable.Text,
  subscriptionId: Nullable.Text,
  occurredAt: Timestamp,
});

/** A payment of a customer. */
export type CustomerPayment = Readonly<Static<typeof PaymentRow>>;

/** Of a transaction with several events, the newest event that reports a total. */
const paymentsStatement = defineStatement(
  'customer_show_payments',
  PaymentRow,
  `with transaction as (
     select transaction_id, provider from billing_licenses where license_id = any ($1::uuid[])
     union
     select transaction_id, provider from license_updates where license_id = any ($1::uuid[]) and kind = 'renewal'
     union
     select paid.transaction_id, paid.provider
     from unnest($2::text[], $3::text[]) as customer (customer_id, provider)
     join billing_payments paid using (customer_id, provider)
   ), newest as (
     select distinct on (paid.transaction_id, paid.provider)
            paid.transaction_id, paid.provider, fact ->> 'origin' as origin, (fact ->> 'total')::float8 as total,
            fact ->> 'currency' as currency,
            paid.subscription_id, paid.occurred_at
     from transaction join billing_payments paid using (transaction_id, provider)
     order by paid.transaction_id, paid.provider, (fact ->> 'total') is null, paid.occurred_at desc
   )
   select * from newest order by occurred_at desc limit ${MAX_ROWS}`,
);

/** Lists the payments for licenses and of customers, newest first. */
export async function listPaymentsOf(
  db: Queryable,
  licenseIds: readonly string[],
  customers: readonly CustomerKey[],
): Promise<CustomerPayment[]> {
  const parameters = [licenseIds, ...toColumns(customers, ['customerId', 'provider'])];
  return queryRows(db, paymentsStatement, parameters);
}

const SubscriptionRow = Type.Object({
  subscriptionId: Type.String(),
  provider: Type.String(),
  status: Type.String(),
  occurredAt: Timestamp,
});

/** A subscription of a customer. */
export type CustomerSubscription = Readonly<Static<typeof SubscriptionRow>>;

const subscriptionsStatement = defineStatement(
  'customer_show_subscriptions',
  SubscriptionRow,
  `with subscription as (
     select known.subscription_id, known.provider
     from unnest($1::text[], $2::text[]) as customer (customer_id, provider)
     join billing_subscriptions known using (customer_id, provider)
     union
     select paid.subscription_id, paid.provider
     from billing_licenses sold join billing_payments paid using (transaction_id, provider)
     where sold.license_id = any ($3::uuid[]) and paid.subscription_id is not null
   ), newest as (
     select distinct on (known.subscription_id, known.provider)
            known.subscription_id, known.provider, known.fact ->> 'status' as status, known.occurred_at
     from subscription join billing_subscriptions known using (subscription_id, provider)
     order by known.subscription_id, known.provider, known.occurred_at desc
   )
   select * from newest order by occurred_at desc limit ${MAX_ROWS}`,
);

/** Lists the subscriptions of customers and of licenses with their newest status. */
export async function listSubscriptionsOf(
  db: Queryable,
  licenseIds: readonly string[],
  customers: readonly CustomerKey[],
): Promise<CustomerSubscription[]> {
  const parameters = [...toColumns(customers, ['customerId', 'provider']), licenseIds];
  return queryRows(db, subscriptionsStatement, parameters);
}

const MailRow = Type.Object({
  kind: Type.Enum(['keys', 'owner', 'outreach']),
  id: Type.String(),
  state: Type.String(),
  reason: Nullable.Text,
  at: Timestamp,
});

/** An e-mail to a customer. */
export type CustomerMail = Readonly<Static<typeof MailRow>>;

const mailsStatement = defineStatement(
  'customer_show_mails',
  MailRow,
  `select 'keys' as kind, transaction_id as id, state, reason, coalesce(sent_at, created_at) as at
   from unnest($1::text[], $2::text[]) as paid (transaction_id, provider)
   join key_emails using (transaction_id, provider)
   union all
   select 'outreach', template, state, error, coalesce(ended_at, created_at)
   from outreach_messages where address_hash = any ($3::bytea[])
   union all
   select 'owner', template, state, error, coalesce(sent_at, created_at)
   from owner_emails where lower(email) = any ($4::text[])
   order by 5 desc limit ${MAX_ROWS}`,
);

/** Lists the e-mails with the keys of transactions, and those to an address, newest first. */
export async function listMailsOf(
  db: Queryable,
  transactions: readonly { readonly transactionId: string; readonly provider: string }[],
  { hashes, spellings }: Pick<Address, 'hashes' | 'spellings'>,
): Promise<CustomerMail[]> {
  const keys = toColumns(transactions, ['transactionId', 'provider']);
  return queryRows(db, mailsStatement, [...keys, toByteaArray(hashes), spellings]);
}

const MachineRow = Type.Object({
  machineId: Nullable.Text,
  installId: Nullable.Text,
  licenseId: Type.String(),
  isActive: Type.Boolean(),
  lastSeenAt: Timestamp,
});

/** A machine on a license of a customer. */
export type CustomerMachine = Readonly<Static<typeof MachineRow>>;

const machinesStatement = defineStatement(
  'customer_show_machines',
  MachineRow,
  `select coalesce(machine_id, machine_digest) as machine_id, install_id, license_id, deactivated_at is null as is_active,
          last_validated_at as last_seen_at
   from activations where license_id = any ($1::uuid[])
   order by last_validated_at desc limit ${MAX_ROWS}`,
);

/** Lists the machines of licenses, the last seen first. */
export async function listMachinesOf(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<CustomerMachine[]> {
  return queryRows(db, machinesStatement, [licenseIds]);
}
