import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const endStatement = defineCommand(
  'buyer_session_end',
  'insert into ended_buyer_sessions (id, expires_at) values ($1, $2) on conflict do nothing',
);

/** Records that a session ended before its time. */
export async function endSession(db: Queryable, id: string, expiresAt: Date): Promise<void> {
  await execute(db, endStatement, [id, expiresAt]);
}

const isEndedStatement = defineStatement(
  'buyer_session_is_ended',
  Type.Object({ isEnded: Type.Boolean() }),
  'select exists (select from ended_buyer_sessions where id = $1) as is_ended',
);

/** Returns whether a session ended before its time. */
export async function isSessionEnded(db: Queryable, id: string): Promise<boolean> {
  return (await queryRow(db, isEndedStatement, [id]))?.isEnded ?? false;
}

const deleteExpiredStatement = defineCommand(
  'buyer_session_delete_expired',
  `delete from ended_buyer_sessions where id in (
     select id from ended_buyer_sessions where expires_at < $1 order by expires_at limit $2
   )`,
);

/** Deletes sessions that would have ended before a time; returns how many. */
export async function deleteExpiredSessions(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteExpiredStatement, [before, limit]);
}
