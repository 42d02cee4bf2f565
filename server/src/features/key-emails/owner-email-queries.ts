/** Statements about the log of e-mails to owners of licenses and payers of gifts, besides those with the keys of a purchase. */
import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';
import type { SendResult } from '#server/mail/mail-transport.ts';

/** An e-mail to the owner of a license, without its content. */
export interface OwnerEmail {
  /** The token of its Message-ID, the same for each attempt. */
  readonly messageToken: string;
  readonly template: 'buyer_code' | 'machine_freed' | 'replaced_key' | 'key' | 'gift_sent';
  readonly language: string;
  readonly email: string;
}

const recordStatement = defineCommand(
  'owner_email_record',
  `insert into owner_emails (id, template, language, email, state, error, message_id, created_at, sent_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (id) do update
   set state = excluded.state, error = excluded.error, message_id = excluded.message_id, sent_at = excluded.sent_at`,
);

/** Records the outcome of an attempt. @param isLast whether an unconfirmed e-mail is not sent again */
export async function recordOwnerEmail(
  db: Queryable,
  { messageToken, template, language, email }: OwnerEmail,
  result: SendResult,
  isLast: boolean,
  now: Date,
): Promise<void> {
  const isSent = result.outcome === 'sent';
  await execute(db, recordStatement, [
    messageToken,
    template,
    language,
    email,
    stateOf(result.outcome, isLast),
    isSent ? null : result.reason,
    isSent ? result.messageId : null,
    now,
    isSent ? now : null,
  ]);
}

function stateOf(outcome: SendResult['outcome'], isLast: boolean): string {
  if (outcome === 'sent') return 'sent';
  if (outcome === 'permanent') return 'failed';
  return outcome === 'unknown' && isLast ? 'unknown' : 'waiting';
}

const deleteOldStatement = defineCommand(
  'owner_email_delete_old',
  `delete from owner_emails where id in (
     select id from owner_emails where created_at < $1 order by created_at limit $2
   )`,
);

/** Deletes rows from before a time; returns how many. */
export async function deleteOldOwnerEmails(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteOldStatement, [before, limit]);
}

const deleteStatement = defineCommand(
  'owner_email_delete',
  'delete from owner_emails where lower(email) = any ($1::text[])',
);

/** Deletes the log of an address. @param spellings in lower case */
export async function deleteOwnerEmails(
  db: Queryable,
  spellings: readonly string[],
): Promise<void> {
  await execute(db, deleteStatement, [spellings]);
}
