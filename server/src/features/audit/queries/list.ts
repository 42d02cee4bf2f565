import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition, type ListPosition } from '#server/db/list.ts';
import {
  defineStatement,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import { idsOfSubject } from '../queries.ts';

const EntryRow = Type.Object({
  id: Type.String(),
  /** Its number in the chain. */
  sequence: Type.Integer(),
  /** In the chain; 64 hex digits. */
  hash: Type.String(),
  occurredAt: Timestamp,
  actor: Type.String(),
  action: Type.String(),
  subjectId: Type.String(),
  reason: Nullable.Text,
  details: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
});

/** A stored entry. */
export type StoredAuditEntry = Readonly<Static<typeof EntryRow>>;

/** By time: the entries of several processes are numbered in the order of their commits, which differs by milliseconds. */
export const auditList = defineList({
  name: 'audit_list',
  row: EntryRow,
  columns: `id, sequence, encode(hash, 'hex') as hash, occurred_at, actor, action, subject_id, reason, details`,
  from: 'audit_log',
  id: { sql: 'sequence', type: 'bigint' },
  sorts: { occurred_at: { sql: 'occurred_at', type: 'timestamptz' } },
});

/** The entries from a time on. */
export function isSince(time: Date): Condition {
  return condition('occurred_at >= ?', time);
}

/** The entries before a time. */
export function isBefore(time: Date): Condition {
  return condition('occurred_at < ?', time);
}

const ACTOR_SOURCES = ['cli', 'sudo', 'login', 'unit', 'operator', 'api_key'];

/** The forms of a name in an actor. */
function toActorWords(name: string): string[] {
  return [name, ...ACTOR_SOURCES.map((source) => `${source}:${name}`)];
}

/** The entries of an account: `anna` from any source, or `cli:anna` from one. Index: audit_log_actor. */
export function isByActor(name: string): Condition {
  return condition(`string_to_array(actor, ' ') && ?::text[]`, toActorWords(name));
}

/** The entries of an action (`license.reveal`), or of all actions of a noun (`license`). Index: audit_log_action. */
export function isAction(action: string): Condition {
  if (action.includes('.')) return condition('action collate "C" = ?', action);
  // From `license.` up to `license/`, the next character of ASCII.
  return condition(
    'action collate "C" >= ? and action collate "C" < ?',
    `${action}.`,
    `${action}/`,
  );
}

/** The entries of a subject, also under its ids of previous master secrets. Index: audit_log_subject. */
export function isAboutSubject(id: string): Condition {
  const copies = idsOfSubject('?');
  const count = copies.split('?').length - 1;
  return condition(`subject_id = any (${copies})`, ...Array.from({ length: count }, () => id));
}

const SEPARATORS = /[@.:_/+\-\s]+/u;

/** The entries that contain words with all these beginnings. Index: audit_log_words. @returns null without a word */
export function containsWords(text: string): Condition | null {
  const words = text.split(SEPARATORS).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return null;
  // A quoted word of tsquery; a quote and a backslash are doubled.
  const quoted = words.map((word) => `'${word.replaceAll(/['\\]/gu, '$&$&')}':*`);
  return condition(
    `to_tsvector('simple', translate(action || ' ' || actor || ' ' || subject_id || ' ' || coalesce(reason, ''), '@.:_/+-', '       '))
       @@ to_tsquery('simple', ?)`,
    quoted.join(' & '),
  );
}

const positionStatement = defineStatement(
  'audit_find_position',
  Type.Object({ value: Type.String(), id: Type.String() }),
  'select occurred_at::text as value, sequence::text as id from audit_log where id = $1',
);

/** Returns the position of an entry in {@link auditList} by time; null when there is no such entry. */
export async function findEntryPosition(db: Queryable, id: string): Promise<ListPosition | null> {
  return queryRow(db, positionStatement, [id]);
}
