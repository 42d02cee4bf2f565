/** Statements about gifts, whose payer is another person than the owner of the license. */
import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from '../billing/queries/purchases.ts';

const Gift = Type.Object({
  /** As the payer entered it. */
  recipient: Type.String(),
  payer: Type.String(),
  payerName: Nullable.Text,
});

/** A gift and its payer. */
export type Gift = Readonly<Static<typeof Gift>>;

const findStatement = defineStatement(
  'key_email_find_gift',
  Gift,
  `with facts as (
     select customer_id, fact, occurred_at from billing_payments where transaction_id = $1 and provider = $2
     union all
     select customer_id, fact, occurred_at from billing_subscriptions where transaction_id = $1 and provider = $2
   ), payers as (
     select customer.email, customer.name, 1 as rank, customer.occurred_at
     from facts
     join billing_customers customer on customer.customer_id = facts.customer_id and customer.provider = $2
     union all
     select fact -> 'customer' ->> 'email', fact -> 'customer' ->> 'name', 2, occurred_at from facts
   )
   select gift.recipient, payer.email as payer, payer.name as "payerName"
   from (
     select fact -> 'recipient' ->> 'email' as recipient from facts
     where fact -> 'recipient' ->> 'email' is not null order by occurred_at limit 1
   ) as gift
   cross join (
     select email, name from payers where email is not null order by rank, occurred_at desc limit 1
   ) as payer`,
);

/** Finds the gift of a transaction; null if it is not a gift, or the address of its payer is unknown. */
export async function findGift(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<Gift | null> {
  return queryRow(db, findStatement, [transactionId, provider]);
}

const claimStatement = defineStatement(
  'key_email_claim_gift_note',
  Type.Object({ transactionId: Type.String() }),
  `update key_emails set gift_noted_at = $3
   where transaction_id = $1 and provider = $2 and gift_noted_at is null
   returning transaction_id as "transactionId"`,
);

/** Claims the note about a gift; false if it was claimed before. */
export async function claimGiftNote(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  now: Date,
): Promise<boolean> {
  return (await queryRow(db, claimStatement, [transactionId, provider, now])) !== null;
}

const releaseStatement = defineCommand(
  'key_email_release_gift_note',
  'update key_emails set gift_noted_at = null where transaction_id = $1 and provider = $2',
);

/** Releases a note that the relay did not accept, so that a retry sends it. */
export async function releaseGiftNote(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<void> {
  await execute(db, releaseStatement, [transactionId, provider]);
}
