import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';
import { toColumns } from '#server/db/to-columns.ts';

import type { TransactionKey, WaitReason } from './queries.ts';

const listWaitingStatement = defineStatement(
  'key_email_list_waiting',
  Type.Object({ transaction_id: Type.String(), provider: Type.String() }),
  `select transaction_id, provider from key_emails
   where state = 'waiting' and reason = $1
   order by created_at, transaction_id, provider
   limit $2`,
);

/** E-mails that wait for this reason, the oldest first. */
export async function listWaitingKeyEmails(
  db: Queryable,
  reason: WaitReason,
  limit: number,
): Promise<TransactionKey[]> {
  const rows = await queryRows(db, listWaitingStatement, [reason, limit]);
  return rows.map((row) => ({ transactionId: row.transaction_id, provider: row.provider }));
}

const releaseStatement = defineCommand(
  'key_email_release_waiting',
  `update key_emails set reason = null
   from unnest($1::text[], $2::text[]) as named (transaction_id, provider)
   where key_emails.transaction_id = named.transaction_id and key_emails.provider = named.provider
     and state = 'waiting'`,
);

/** Notes that nothing keeps e-mails any more. */
export async function releaseKeyEmails(
  db: Queryable,
  names: readonly TransactionKey[],
): Promise<void> {
  await execute(db, releaseStatement, toColumns(names, ['transactionId', 'provider']));
}

const countStatement = defineStatement(
  'key_email_count_unsent',
  Type.Object({
    no_address: Type.Number(),
    no_mail: Type.Number(),
    refused: Type.Number(),
    unconfirmed: Type.Number(),
  }),
  `select count(*) filter (where state = 'waiting' and reason = 'no_address') as no_address,
          count(*) filter (where state = 'waiting' and reason = 'no_mail') as no_mail,
          count(*) filter (where state = 'refused' and reason is distinct from 'unconfirmed') as refused,
          count(*) filter (where state = 'refused' and reason = 'unconfirmed') as unconfirmed
   from key_emails where state <> 'sent'`,
);

/** How many e-mails were not sent, and why. */
export interface UnsentKeyEmails {
  /** No address of the buyer is known. */
  readonly noAddress: number;
  /** No mail was configured. */
  readonly noMail: number;
  /** The relay refused them for good. */
  readonly refused: number;
  /** Sent twice without the relay saying whether it took them. */
  readonly unconfirmed: number;
}

/** Counts the e-mails that wait for somebody to do something. */
export async function countUnsentKeyEmails(db: Queryable): Promise<UnsentKeyEmails> {
  const row = await queryRow(db, countStatement);
  return {
    noAddress: row?.no_address ?? 0,
    noMail: row?.no_mail ?? 0,
    refused: row?.refused ?? 0,
    unconfirmed: row?.unconfirmed ?? 0,
  };
}

const countRefusedStatement = defineStatement(
  'key_email_count_refused',
  Type.Object({ refused: Type.Number() }),
  `select count(*) as refused
   from (select from key_emails where state = 'refused' and claimed_at >= $1 limit $2) counted`,
);

/** How many e-mails were given up since a moment, refused or left open by the relay, counted as far as `most`. */
export async function countRefusedKeyEmails(
  db: Queryable,
  since: Date,
  most: number,
): Promise<number> {
  return (await queryRow(db, countRefusedStatement, [since, most]))?.refused ?? 0;
}
