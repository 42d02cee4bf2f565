import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from './queries.ts';

const recordUnconfirmedStatement = defineCommand(
  'key_email_record_unconfirmed',
  `update key_emails set state = 'waiting', reason = 'unconfirmed', unconfirmed_at = $3
   where transaction_id = $1 and provider = $2 and state = 'sending'`,
);

/** Notes that a relay has the e-mail and did not say whether it takes it; it is to be sent once more. */
export async function recordKeyEmailUnconfirmed(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  now: Date,
): Promise<void> {
  await execute(db, recordUnconfirmedStatement, [transactionId, provider, now]);
}

const findUnconfirmedStatement = defineStatement(
  'key_email_find_unconfirmed',
  Type.Object({ unconfirmed_at: Timestamp }),
  `select unconfirmed_at from key_emails
   where transaction_id = $1 and provider = $2 and address_hash = $3
     and state in ('waiting', 'withheld') and unconfirmed_at is not null`,
);

/** When a relay left open whether it takes the e-mail to this address; null when it is not to be sent once more. */
export async function findUnconfirmedKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  addressHash: string,
): Promise<Date | null> {
  const parameters = [transactionId, provider, addressHash];
  return (await queryRow(db, findUnconfirmedStatement, parameters))?.unconfirmed_at ?? null;
}

const moveAddressStatement = defineCommand(
  'key_email_move_address',
  `update key_emails set address_hash = $4
   where transaction_id = $1 and provider = $2 and address_hash = $3`,
);

/** Stores under another hash to which address the e-mail was sent. */
export async function moveKeyEmailAddress(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  from: string,
  to: string,
): Promise<void> {
  await execute(db, moveAddressStatement, [transactionId, provider, from, to]);
}
