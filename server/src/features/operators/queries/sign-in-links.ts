import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const LinkRow = Type.Object({ operatorId: Nullable.Text, expiresAt: Timestamp });

/** A stored sign-in link. Without an operator, it creates the first one. */
export type SignInLink = Readonly<Static<typeof LinkRow>>;

const insertStatement = defineCommand(
  'operator_link_insert',
  `insert into operator_sign_in_links (token_hash, operator_id, created_at, expires_at)
   values ($1, $2, $3, $4)`,
);

/** Stores a sign-in link. @param operatorId null: it creates the first operator */
export async function insertSignInLink(
  db: Queryable,
  tokenHash: Buffer,
  operatorId: string | null,
  createdAt: Date,
  expiresAt: Date,
): Promise<void> {
  await execute(db, insertStatement, [tokenHash, operatorId, createdAt, expiresAt]);
}

const findStatement = defineStatement(
  'operator_link_find',
  LinkRow,
  `select operator_id, expires_at from operator_sign_in_links
   where token_hash = $1 and expires_at > $2`,
);

/** Finds a sign-in link that has not expired. */
export async function findSignInLink(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<SignInLink | null> {
  return queryRow(db, findStatement, [tokenHash, now]);
}

const assignStatement = defineCommand(
  'operator_link_assign',
  `update operator_sign_in_links set operator_id = $2
   where token_hash = $1 and operator_id is null and expires_at > $3`,
);

/** Assigns a link that creates the first operator to that operator; returns whether there is such a link. */
export async function assignSignInLink(
  db: Queryable,
  tokenHash: Buffer,
  operatorId: string,
  now: Date,
): Promise<boolean> {
  return (await execute(db, assignStatement, [tokenHash, operatorId, now])) === 1;
}

const deleteAllStatement = defineCommand(
  'operator_link_delete_all',
  'delete from operator_sign_in_links where operator_id = $1 or expires_at <= $2',
);

/** Deletes the sign-in links of an operator, and all expired ones; returns their number. */
export async function deleteSignInLinks(
  db: Queryable,
  operatorId: string,
  now: Date,
): Promise<number> {
  return execute(db, deleteAllStatement, [operatorId, now]);
}
