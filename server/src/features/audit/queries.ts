import { Type } from 'typebox';
import { v7 as makeUuid } from 'uuid';

import {
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';
import { scrub } from '#server/log-scrub.ts';

import { canonicalizeContent, toContent } from './rules/chain.ts';

/** A manual change, or an access to secrets or personal data. */
export interface AuditEntry {
  readonly occurredAt: Date;
  /** From the operating system: `cli:<account>`, and more after a space; `latchkey`: the service itself. */
  readonly actor: string;
  /** For example `license.suspend`. */
  readonly action: string;
  readonly subjectId: string;
  readonly reason: string | null;
  /** The changed values, without keys and addresses. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * Appends an entry to the chain: numbers and hashes it after the newest one, whose row it locks until the commit. An insert
 * that waited for the lock continues after the entry of the other transaction.
 */
const insertStatement = defineCommand(
  'audit_insert',
  `with head as (
     update audit_head
     set sequence = sequence + 1, hash = sha256(hash || int8send(sequence + 1) || convert_to($8, 'UTF8'))
     returning sequence, hash
   )
   insert into audit_log (sequence, id, occurred_at, actor, action, subject_id, reason, details, hash)
   select head.sequence, $1, $2, $3, $4, $5, $6, $7, head.hash from head`,
);

/**
 * Appends an entry, in the transaction of its change and as its last statement: other audit entries wait until the commit, so
 * that a lock taken later could cause a deadlock. Keys, tokens and e-mail addresses in the reason are replaced, because it
 * is never edited later.
 */
export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  const reason = entry.reason === null ? null : scrub(entry.reason);
  const content = toContent({ ...entry, id: makeUuid(), reason });
  const inserted = await execute(db, insertStatement, [
    content.id,
    entry.occurredAt,
    content.actor,
    content.action,
    content.subject_id,
    content.reason,
    JSON.stringify(content.details),
    canonicalizeContent(content),
  ]);
  if (inserted !== 1) throw new Error('audit_head has no row: the audit log cannot be continued');
}

/** SQL for the array of all ids that a subject has or had, by any of them. @param id an expression, such as `$1` */
export function idsOfSubject(id: string): string {
  return `array(
    select ${id} union
    select current_id from audit_renamed_subjects where previous_id = ${id} union
    select previous_id from audit_renamed_subjects
    where current_id = ${id}
       or current_id = (select given.current_id from audit_renamed_subjects given where given.previous_id = ${id}))`;
}

const listStatement = defineStatement(
  'audit_list_by_subject',
  Type.Object({
    occurredAt: Timestamp,
    actor: Type.String(),
    action: Type.String(),
    reason: Nullable.Text,
  }),
  `select occurred_at, actor, action, reason from audit_log
   where subject_id = any (${idsOfSubject('$1')}) order by occurred_at, sequence limit 1000`,
);

/** Lists the entries of one subject, also under its ids of previous master secrets, oldest first. */
export async function listAuditEntries(
  db: Queryable,
  subjectId: string,
): Promise<Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[]> {
  return queryRows(db, listStatement, [subjectId]);
}

const newestStatement = defineStatement(
  'audit_find_newest_of_action',
  Type.Object({ occurredAt: Timestamp }),
  `select occurred_at from audit_log where action collate "C" = $1
   order by occurred_at desc limit 1`,
);

/** Returns when an action was recorded last; null: never. Index: audit_log_action. */
export async function findNewestOccurrence(db: Queryable, action: string): Promise<Date | null> {
  return (await queryRow(db, newestStatement, [action]))?.occurredAt ?? null;
}
