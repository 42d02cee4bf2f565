import { Type } from 'typebox';
import { v7 as makeUuid } from 'uuid';

import {
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A change made by hand. */
export interface AuditEntry {
  readonly occurredAt: Date;
  /** Who: `cli:<account>`. */
  readonly actor: string;
  /** What: `license.suspend`. */
  readonly action: string;
  readonly subjectId: string;
  readonly reason: string | null;
  /** What changed, without keys and addresses. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

const insertStatement = defineCommand(
  'audit_insert',
  `insert into audit_log (id, occurred_at, actor, action, subject_id, reason, details)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

/** Leaves a row for a change made by hand; in the transaction of the change itself. */
export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  await execute(db, insertStatement, [
    makeUuid(),
    entry.occurredAt,
    entry.actor,
    entry.action,
    entry.subjectId,
    entry.reason,
    JSON.stringify(entry.details),
  ]);
}

const listStatement = defineStatement(
  'audit_list_by_subject',
  Type.Object({
    occurred_at: Timestamp,
    actor: Type.String(),
    action: Type.String(),
    reason: Nullable.Text,
  }),
  `select occurred_at, actor, action, reason from audit_log
   where subject_id = $1 order by occurred_at, id limit 1000`,
);

/** What was done by hand to one subject, the oldest first. */
export async function listAuditEntries(
  db: Queryable,
  subjectId: string,
): Promise<Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[]> {
  const rows = await queryRows(db, listStatement, [subjectId]);
  return rows.map(({ occurred_at: occurredAt, ...entry }) => ({ ...entry, occurredAt }));
}
