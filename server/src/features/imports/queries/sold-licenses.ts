import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

/** An id at a payment provider. */
export interface PaymentName {
  /** Null: any provider. */
  readonly provider: string | null;
  readonly kind: 'transaction' | 'subscription';
  readonly name: string;
}

/** Of the license `l`. */
const FACTS = `l.id as "licenseId",
          exists (select from license_added_keys added where added.license_id = l.id) as "hasAddedKey"`;

const SoldRow = Type.Object({
  /** As asked. */
  provider: Nullable.Text,
  kind: Type.Enum(['transaction', 'subscription']),
  name: Type.String(),
  licenseId: Type.String(),
  /** Whether an import added a key to it. */
  hasAddedKey: Type.Boolean(),
  /** Whether a payment here created or adopted it. */
  isPaid: Type.Boolean(),
});

/** The license of a payment or subscription, and the id by which it was found. */
export type SoldLicense = Readonly<Static<typeof SoldRow>>;

const listStatement = defineStatement(
  'import_list_sold_licenses',
  SoldRow,
  `with input as (
     select distinct provider, kind, name from unnest($1::text[], $2::text[], $3::text[]) as input (provider, kind, name)
   ), subscriptions as (
     select input.provider as asked, input.kind, input.name, found.provider, found.id
     from input cross join lateral (
       select s.provider, s.subscription_id as id from billing_subscriptions s
       where input.kind = 'subscription' and s.subscription_id = input.name
       union
       select p.provider, p.subscription_id from billing_payments p
       where input.kind = 'subscription' and p.subscription_id = input.name
       union
       select s.provider, s.subscription_id from billing_subscriptions s
       where input.kind = 'transaction' and s.transaction_id = input.name
       union
       select p.provider, p.subscription_id from billing_payments p
       where input.kind = 'transaction' and p.transaction_id = input.name
       union
       select p.provider, p.subscription_id from billing_aliases a
       join billing_payments p on p.transaction_id = a.transaction_id and p.provider = a.provider
       where input.kind = 'transaction' and a.alias = input.name
     ) as found
     where found.id is not null and found.provider = coalesce(input.provider, found.provider)
   ), transactions as (
     select provider as asked, kind, name, provider, name as id from input where kind = 'transaction'
     union
     select input.provider, input.kind, input.name, a.provider, a.transaction_id
     from input join billing_aliases a on a.alias = input.name and a.provider = coalesce(input.provider, a.provider)
     where input.kind = 'transaction'
     union
     select asked, kind, name, provider, 'subscription ' || id from subscriptions
     union
     select known.asked, known.kind, known.name, known.provider, p.transaction_id
     from subscriptions known
     join billing_payments p on p.subscription_id = known.id and p.provider = known.provider
     union
     select known.asked, known.kind, known.name, known.provider, s.transaction_id
     from subscriptions known
     join billing_subscriptions s on s.subscription_id = known.id and s.provider = known.provider
     where s.transaction_id is not null
   )
   select distinct sold.asked as provider, sold.kind, sold.name, ${FACTS}, true as is_paid
   from transactions sold
   join billing_licenses billed
     on billed.transaction_id = sold.id and billed.provider = coalesce(sold.provider, billed.provider)
   join licenses l on l.id = billed.license_id and not l.is_test
   union
   select input.provider, input.kind, input.name, ${FACTS}, false
   from input
   join license_names names on names.name = input.name and names.kind = input.kind
     and coalesce(names.provider = input.provider, true)
   join licenses l on l.id = names.license_id
   where not exists (
     select from imported_licenses i where i.license_id = names.license_id and i.source = $4
   )
   order by "licenseId"`,
);

/**
 * Lists the licenses that payments created, and those from elsewhere that the next payment adopts, oldest first.
 * @param source its own licenses are left out of the latter: a purchase may have several
 */
export async function listSoldLicenses(
  db: Queryable,
  source: string,
  names: readonly PaymentName[],
): Promise<SoldLicense[]> {
  if (names.length === 0) return [];
  const columns = toColumns(names, ['provider', 'kind', 'name']);
  return queryRows(db, listStatement, [...columns, source]);
}

const UnnamedRow = Type.Object({
  email: Type.String(),
  end: Type.String(),
  namedBy: Type.Enum(['transaction', 'subscription']),
  licenseId: Type.String(),
  hasAddedKey: Type.Boolean(),
});

/** A subscription of a row that has one kind of id only, by its customer and its end. */
export interface UnnamedSubscription {
  readonly provider: string | null;
  readonly namedBy: 'transaction' | 'subscription';
  /** In lower case. */
  readonly email: string;
  /** As JSON has it. */
  readonly end: string;
}

const listUnnamedStatement = defineStatement(
  'import_list_unnamed_licenses',
  UnnamedRow,
  `with input as (
     select distinct provider, named_by, email, ends
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as input (provider, named_by, email, ends)
   )
   select distinct input.email, input.ends as end, input.named_by, ${FACTS}
   from input
   join licenses l on lower(l.customer_email) = input.email and not l.is_test
   join billing_licenses billed on billed.license_id = l.id and not billed.renews
     and billed.provider = coalesce(input.provider, billed.provider)
   cross join lateral (
     select paid.subscription_id as id from billing_payments paid
     where paid.transaction_id = billed.transaction_id and paid.provider = billed.provider
     union
     select substring(billed.transaction_id from '^subscription (.*)$')
   ) as subscription
   cross join lateral (
     select min((p.fact -> 'period' ->> 'startsAt')::timestamptz) as starts_at, bool_or(p.fact ->> 'origin' = 'purchase') as has_checkout
     from billing_payments p
     where p.subscription_id = subscription.id and p.provider = billed.provider
   ) as known
   where input.named_by = 'transaction' and subscription.id is not null and known.has_checkout is not true and (
     known.starts_at = input.ends::timestamptz
     or exists (select from billing_sales sale where sale.license_id = l.id and sale.price_id = '' and sale.ends_at = input.ends::timestamptz)
   )
   union
   select input.email, input.ends, input.named_by, ${FACTS}
   from input
   join licenses l on lower(l.customer_email) = input.email and l.subscription and l.expires_at = input.ends::timestamptz
   where exists (
       select from license_names names
       where names.license_id = l.id and names.kind in ('transaction', 'subscription') and names.kind <> input.named_by
         and coalesce(names.provider = input.provider, true)
     )
     and not exists (select from license_names names where names.license_id = l.id and names.kind = input.named_by)
     and not exists (select from billing_licenses billed where billed.license_id = l.id)
     and not exists (select from imported_licenses i where i.license_id = l.id and i.source = $5)
   order by "licenseId"`,
);

/**
 * Lists the licenses of customers that may be those of rows without a common id: their oldest known payment, without a checkout, pays
 * the period that begins with the end of the row, or another source imported them with the same end and the other kind of id. A
 * payment may have adopted these.
 */
export async function listUnnamedLicenses(
  db: Queryable,
  source: string,
  rows: readonly UnnamedSubscription[],
): Promise<Readonly<Static<typeof UnnamedRow>>[]> {
  if (rows.length === 0) return [];
  const columns = toColumns(rows, ['provider', 'namedBy', 'email', 'end']);
  return queryRows(db, listUnnamedStatement, [...columns, source]);
}
