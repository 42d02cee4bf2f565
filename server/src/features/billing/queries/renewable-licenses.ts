import { isTestSource } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { defineStatement, Nullable, queryRows, type Queryable } from '#server/db/statement.ts';

const Renewable = Type.Object({
  licenseId: Type.String(),
  customerEmail: Nullable.Text,
  /** Whether the same customer bought it at the same provider. */
  isBought: Type.Boolean(),
});

/** A license whose updates a buyer may renew. */
export type RenewableLicense = Readonly<Static<typeof Renewable>>;

const listStatement = defineStatement(
  'billing_license_list_renewable',
  Renewable,
  `with bought as (
     select billed.license_id
     from billing_payments paid
     join billing_licenses billed using (transaction_id, provider)
     where paid.customer_id = $3 and paid.provider = $4
   ), own as (
     select id from licenses where lower(customer_email) = lower($2)
     union
     select license_id from bought
   )
   select l.id as "licenseId", l.customer_email as "customerEmail", l.id in (select license_id from bought) as "isBought"
   from own join licenses l on l.id = own.id
   where l.product_id = $1 and not l.trial and l.is_test = $5 and coalesce(l.revoked_at, l.refunded_at) is null
   order by l.id
   limit 20`,
);

/**
 * Lists the licenses of a product that a buyer has, by the customer at the provider and by the address. A test purchase finds
 * licenses of test purchases only.
 */
export async function listRenewableLicenses(
  db: Queryable,
  productId: string,
  buyer: {
    readonly provider: string;
    readonly customerId: string | null;
    readonly email: string | null;
  },
): Promise<RenewableLicense[]> {
  const { provider, customerId, email } = buyer;
  const values = [productId, email, customerId, provider, isTestSource(provider)];
  return queryRows(db, listStatement, values);
}
