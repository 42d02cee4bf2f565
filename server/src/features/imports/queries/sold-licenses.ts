import { Type, type Static } from 'typebox';

import { defineStatement, queryRows, toColumns, type Queryable } from '#server/db/statement.ts';

/** An id at a payment provider. */
export interface PaymentName {
  readonly provider: string;
  readonly kind: 'transaction' | 'subscription';
  readonly name: string;
}

const SoldRow = Type.Object({
  provider: Type.String(),
  kind: Type.Enum(['transaction', 'subscription']),
  name: Type.String(),
  licenseId: Type.String(),
  /** Whether its checkout was reported here, so that the purchase adopts no license from elsewhere. */
  hasCheckout: Type.Boolean(),
});

/** The license of a payment or subscription, and the id by which it was found. */
export type SoldLicense = Readonly<Static<typeof SoldRow>>;

const listStatement = defineStatement(
  'import_list_sold_licenses',
  SoldRow,
  `select distinct input.provider, input.kind, input.name, billed.license_id as "licenseId",
          exists (
            select from billing_payments p
            where p.transaction_id = billed.transaction_id and p.provider = billed.provider
              and p.fact ->> 'origin' = 'purchase'
          ) or exists (
            select from billing_subscriptions s
            where s.transaction_id = billed.transaction_id and s.provider = billed.provider
          ) as "hasCheckout"
   from unnest($1::text[], $2::text[], $3::text[]) as input (provider, kind, name)
   cross join lateral (
     select input.name as transaction_id where input.kind = 'transaction'
     union all
     select a.transaction_id from billing_aliases a
     where input.kind = 'transaction' and a.alias = input.name and a.provider = input.provider
     union all
     select 'subscription ' || input.name where input.kind = 'subscription'
     union all
     select p.transaction_id from billing_payments p
     where input.kind = 'subscription' and p.subscription_id = input.name and p.provider = input.provider
     union all
     select s.transaction_id from billing_subscriptions s
     where input.kind = 'subscription' and s.subscription_id = input.name and s.provider = input.provider
       and s.transaction_id is not null
   ) as linked
   join billing_licenses billed
     on billed.transaction_id = linked.transaction_id and billed.provider = input.provider
   union
   select input.provider, input.kind, input.name, names.license_id, false
   from unnest($1::text[], $2::text[], $3::text[]) as input (provider, kind, name)
   join license_names names on names.name = input.name and names.kind = 'subscription'
     and input.kind = 'subscription' and (names.provider is null or names.provider = input.provider)
   where not exists (
     select from imported_licenses i where i.license_id = names.license_id and i.source = $4
   )`,
);

/**
 * Lists the licenses that payments created, and those from elsewhere that the next payment of a subscription adopts.
 * @param source its own licenses are left out of the latter: a subscription may have several
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
