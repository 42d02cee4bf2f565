import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { ChainedEntry, ChainPoint } from '../rules/find-break.ts';

const Row = Type.Object({
  sequence: Type.Integer(),
  hash: Type.String(),
  id: Type.String(),
  occurredAt: Type.String(),
  actor: Type.String(),
  action: Type.String(),
  subjectId: Type.String(),
  reason: Nullable.Text,
  details: Type.String(),
});

const listStatement = defineStatement(
  'audit_list_chain',
  Row,
  `select sequence, encode(hash, 'hex') as hash, id,
          coalesce(to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '') as occurred_at,
          actor, action, subject_id, reason, details::text as details
   from audit_log where sequence > $1 order by sequence limit $2`,
);

/** Lists a page of the chain, with everything that is hashed, oldest first. */
export async function listChainPage(
  db: Queryable,
  afterSequence: number,
  limit: number,
): Promise<ChainedEntry[]> {
  return (await queryRows(db, listStatement, [afterSequence, limit])).map(toEntry);
}

function toEntry({ sequence, hash, ...row }: Static<typeof Row>): ChainedEntry {
  const { id, actor, action, reason } = row;
  const details: unknown = JSON.parse(row.details);
  const content = { occurred_at: row.occurredAt, subject_id: row.subjectId, details };
  return { sequence, hash, content: { ...content, id, actor, action, reason } };
}

const PointRow = Type.Object({ sequence: Type.Integer(), hash: Type.String() });

const headStatement = defineStatement(
  'audit_find_head',
  PointRow,
  `select sequence, encode(hash, 'hex') as hash from audit_head`,
);

/** Returns the position of the newest entry, 0 without entries; null if its row was removed. */
export async function findAuditHead(db: Queryable): Promise<ChainPoint | null> {
  return queryRow(db, headStatement);
}

const pointStatement = defineStatement(
  'audit_find_point',
  PointRow,
  `select sequence, encode(hash, 'hex') as hash from audit_log where sequence = $1`,
);

/** Returns the stored hash of one entry. */
export async function findAuditPoint(db: Queryable, sequence: number): Promise<ChainPoint | null> {
  return queryRow(db, pointStatement, [sequence]);
}
