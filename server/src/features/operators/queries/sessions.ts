import { Type, type Static } from 'typebox';

import {
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { OperatorRow, type OperatorRecord } from './operators.ts';

const SessionRow = Type.Object({
  id: Type.String(),
  operatorId: Type.String(),
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  provedAt: Timestamp,
  network: Type.String(),
  userAgent: Type.String(),
});

/** A stored session, without its token. */
export type SessionRecord = Readonly<Static<typeof SessionRow>>;

const insertStatement = defineCommand(
  'operator_session_insert',
  `insert into operator_sessions
     (id, operator_id, token_hash, created_at, last_seen_at, proved_at, network, user_agent)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Stores a session. */
export async function insertSession(
  db: Queryable,
  session: SessionRecord,
  tokenHash: Buffer,
): Promise<void> {
  const { id, operatorId, createdAt, lastSeenAt, provedAt, network, userAgent } = session;
  await execute(db, insertStatement, [
    id,
    operatorId,
    tokenHash,
    createdAt,
    lastSeenAt,
    provedAt,
    network,
    userAgent,
  ]);
}

const FoundRow = Type.Object({
  sessionId: Type.String(),
  sessionCreatedAt: Timestamp,
  lastSeenAt: Timestamp,
  provedAt: Timestamp,
  ...OperatorRow.properties,
});

/** A session and its operator. */
export interface FoundSession {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly provedAt: Date;
  readonly operator: OperatorRecord;
}

/** Valid sessions of enabled operators. */
const SELECT_VALID = `
  select sessions.id as session_id, sessions.created_at as session_created_at, last_seen_at, proved_at,
         ${columnsOf(OperatorRow, 'operators')}
  from operator_sessions sessions join operators on operators.id = operator_id
  where last_seen_at > $1 and sessions.created_at > $2 and disabled_at is null`;

interface SessionLimits {
  readonly seenAfter: Date;
  readonly createdAfter: Date;
}

const findStatement = defineStatement(
  'operator_session_find',
  FoundRow,
  `${SELECT_VALID} and token_hash = $3`,
);

/** Finds the session of a token by its hash, unless it has expired or its operator is disabled. */
export async function findSession(
  db: Queryable,
  tokenHash: Buffer,
  { seenAfter, createdAfter }: SessionLimits,
): Promise<FoundSession | null> {
  return toSession(await queryRow(db, findStatement, [seenAfter, createdAfter, tokenHash]));
}

function toSession(row: Readonly<Static<typeof FoundRow>> | null): FoundSession | null {
  if (row === null) return null;
  const { sessionId, sessionCreatedAt, lastSeenAt, provedAt, ...operator } = row;
  return { id: sessionId, createdAt: sessionCreatedAt, lastSeenAt, provedAt, operator };
}

const findOwnStatement = defineStatement(
  'operator_session_find_own',
  FoundRow,
  `${SELECT_VALID} and sessions.id = $3 and operator_id = $4`,
);

/** Finds a session of an operator by its id, unless it has expired or the operator is disabled. */
export async function findSessionOf(
  db: Queryable,
  operatorId: string,
  sessionId: string,
  { seenAfter, createdAfter }: SessionLimits,
): Promise<FoundSession | null> {
  const parameters = [seenAfter, createdAfter, sessionId, operatorId];
  return toSession(await queryRow(db, findOwnStatement, parameters));
}

const listStatement = defineStatement(
  'operator_session_list',
  SessionRow,
  `select ${columnsOf(SessionRow)} from operator_sessions
   where operator_id = $1 and last_seen_at > $2 and created_at > $3
   order by last_seen_at desc, id desc limit 100`,
);

/** Lists the valid sessions of an operator, the newest use first. */
export async function listSessionRecords(
  db: Queryable,
  operatorId: string,
  limits: SessionLimits,
): Promise<SessionRecord[]> {
  return queryRows(db, listStatement, [operatorId, limits.seenAfter, limits.createdAfter]);
}

const recordUseStatement = defineCommand(
  'operator_session_record_use',
  'update operator_sessions set last_seen_at = $2 where id = $1 and last_seen_at <= $3',
);

/** Records that a session was used. @param unlessSince nothing is written when a later use is stored */
export async function recordSessionUse(
  db: Queryable,
  id: string,
  now: Date,
  unlessSince: Date,
): Promise<void> {
  await execute(db, recordUseStatement, [id, now, unlessSince]);
}

const renewStatement = defineCommand(
  'operator_session_renew',
  `update operator_sessions set token_hash = $2, proved_at = $3, last_seen_at = $3
   where id = $1 and operator_id = $4`,
);

/** Replaces the token of a session and records a proof; returns whether there is such a session. */
export async function renewSession(
  db: Queryable,
  operatorId: string,
  sessionId: string,
  tokenHash: Buffer,
  now: Date,
): Promise<boolean> {
  return (await execute(db, renewStatement, [sessionId, tokenHash, now, operatorId])) === 1;
}

const deleteStatement = defineCommand(
  'operator_session_delete',
  'delete from operator_sessions where operator_id = $1 and id = $2',
);

/** Deletes one session of an operator; returns whether there was one. */
export async function deleteSession(
  db: Queryable,
  operatorId: string,
  id: string,
): Promise<boolean> {
  return (await execute(db, deleteStatement, [operatorId, id])) === 1;
}

const deleteAllStatement = defineCommand(
  'operator_session_delete_all',
  'delete from operator_sessions where operator_id = $1 and ($2::uuid is null or id <> $2)',
);

/** Deletes the sessions of an operator; returns their number. @param exceptId the session that stays; null: none */
export async function deleteSessions(
  db: Queryable,
  operatorId: string,
  exceptId: string | null,
): Promise<number> {
  return execute(db, deleteAllStatement, [operatorId, exceptId]);
}

/** Sessions of one operator at the same time. */
const MAX_SESSIONS = 50;

const deleteOldStatement = defineCommand(
  'operator_session_delete_old',
  `delete from operator_sessions
   where last_seen_at <= $2 or created_at <= $3 or id in (
     select id from operator_sessions where operator_id = $1
     order by last_seen_at desc, id desc offset ${MAX_SESSIONS - 1})`,
);

/** Deletes expired sessions, and those of an operator beyond the limit, so that one more can be stored. */
export async function deleteOldSessions(
  db: Queryable,
  operatorId: string,
  limits: SessionLimits,
): Promise<void> {
  await execute(db, deleteOldStatement, [operatorId, limits.seenAfter, limits.createdAfter]);
}
