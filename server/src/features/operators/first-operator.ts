/** The first operator: a link that `serve` prints while there is none creates it. */
import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import { linkInvalid, missingField } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { SessionDependencies } from './dependencies.ts';
import type { IssuedLink, OperatorDependencies } from './manage.ts';
import { insertOperator, isAnyOperator, lockAllOperators } from './queries/operators.ts';
import { assignSignInLink, insertSignInLink } from './queries/sign-in-links.ts';
import { LINK_TERM_MS } from './rules/operator.ts';
import { createToken, hashToken } from './rules/token.ts';

/** Logs that there is no operator, with the command: a log is read by more people than a terminal, so that it contains no link. */
export async function logMissingOperator({
  pool,
  log,
}: Pick<SessionDependencies, 'pool' | 'log'>): Promise<void> {
  if (await isAnyOperator(pool)) return;
  const hint = 'no operator yet: run latchkey operator create EMAIL to use the console';
  log.info({ event: 'operator.none' }, hint);
}

/** Creates a link with which its reader becomes the first operator, an administrator; null if there is an operator. */
export async function createFirstLink(
  deps: OperatorDependencies,
): Promise<Omit<IssuedLink, 'operatorId'> | null> {
  if (await isAnyOperator(deps.pool)) return null;
  const token = createToken(randomBytes);
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('the token has another form');
  const now = deps.clock.now();
  const expiresAt = new Date(now.getTime() + LINK_TERM_MS);
  await insertSignInLink(deps.pool, tokenHash, null, now, expiresAt);
  return { url: `${deps.config.http.publicUrl}/console/welcome#${token}`, expiresAt };
}

/**
 * Creates the operator of a link of {@link createFirstLink}. The link is then one of that operator, which is redeemed as any
 * other, so that a failure in between locks nobody out.
 * @throws linkInvalid (401) when there is an operator, InvalidRequestError (422) without an address
 */
export async function createFirstOperator(
  deps: OperatorDependencies,
  tokenHash: Buffer,
  { email, name = '' }: { readonly email?: string; readonly name?: string },
): Promise<void> {
  if (email === undefined) throw missingField('email');
  await inTransaction(deps.pool, async (db) => {
    const now = deps.clock.now();
    const id = makeUuid();
    await lockAllOperators(db);
    if (await isAnyOperator(db)) throw linkInvalid();
    if (!(await assignSignInLink(db, tokenHash, id, now))) throw linkInvalid();
    await insertOperator(db, {
      id,
      email,
      name: name.trim() || email,
      role: 'admin',
      createdAt: now,
    });
    await insertAuditEntry(db, {
      occurredAt: now,
      actor: 'cli:serve',
      action: 'operator.create',
      subjectId: id,
      reason: null,
      details: { role: 'admin' },
    });
  });
}
