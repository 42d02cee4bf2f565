/** Feature: create, list, disable, enable and reset the accounts of the console. */
import { randomBytes } from 'node:crypto';

import type { OperatorRole } from '@latchkey/contract';
import type { Pool, PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import {
  clearCredentials,
  insertOperator,
  listOperatorRecords,
  lockOperatorByEmail,
  setOperatorDisabled,
  setOperatorRole,
  type OperatorRecord,
} from './queries/operators.ts';
import { deleteRecoveryCodes } from './queries/recovery-codes.ts';
import { deleteSessions } from './queries/sessions.ts';
import { deleteSignInLinks, insertSignInLink } from './queries/sign-in-links.ts';
import { LINK_TERM_MS } from './rules/operator.ts';
import { createToken, hashToken } from './rules/token.ts';

export interface OperatorDependencies {
  readonly clock: Clock;
  readonly config: { readonly http: Pick<Config['http'], 'publicUrl'> };
  readonly pool: Pool;
}

/** The actor and the reason of a change, for the audit log. */
export interface OperatorChange {
  readonly actor: string;
  readonly reason: string | null;
}

/** A one-time link in plain text, which cannot be shown again. */
export interface IssuedLink {
  readonly operatorId: string;
  readonly url: string;
  readonly expiresAt: Date;
}

/** A change that is not possible; the message is a sentence for the operator. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/**
 * Creates an operator, and a one-time link with which it sets its password.
 * @throws OperatorError when there is an operator with the address
 */
export async function createOperator(
  deps: OperatorDependencies,
  order: { readonly email: string; readonly name: string; readonly role: OperatorRole },
  change: OperatorChange,
): Promise<IssuedLink> {
  const now = deps.clock.now();
  const id = makeUuid();
  return inTransaction(deps.pool, async (client) => {
    if (!(await insertOperator(client, { id, ...order, createdAt: now }))) {
      throw new OperatorError(
        'There is an operator with this address already: latchkey operator reset creates a new link for it.',
      );
    }
    const link = await issueLink(deps, client, id, now);
    await audit(client, change, now, 'operator.create', id, { role: order.role });
    return link;
  });
}

/** The token is in the fragment, which browsers do not send, so that it reaches no log. */
async function issueLink(
  { config }: OperatorDependencies,
  client: PoolClient,
  operatorId: string,
  now: Date,
): Promise<IssuedLink> {
  const token = createToken(randomBytes);
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('the token has another form');
  const expiresAt = new Date(now.getTime() + LINK_TERM_MS);
  await deleteSignInLinks(client, operatorId, now);
  await insertSignInLink(client, tokenHash, operatorId, now, expiresAt);
  return { operatorId, url: `${config.http.publicUrl}/console/welcome#${token}`, expiresAt };
}

function audit(
  client: PoolClient,
  change: OperatorChange,
  occurredAt: Date,
  action: string,
  subjectId: string,
  details: AuditEntry['details'] = {},
): Promise<void> {
  return insertAuditEntry(client, { ...change, occurredAt, action, subjectId, details });
}

const MAX_LISTED = 1_000;

/** Lists the first 1,000 operators by e-mail address. */
export async function listOperators(
  deps: Pick<OperatorDependencies, 'pool'>,
): Promise<OperatorRecord[]> {
  return listOperatorRecords(deps.pool, MAX_LISTED);
}

/**
 * Disables an operator: ends its sessions and deletes its sign-in links.
 * @throws OperatorError for an unknown address
 */
export async function disableOperator(
  deps: OperatorDependencies,
  email: string,
  change: OperatorChange,
): Promise<void> {
  await changeOperator(deps, email, async (client, { id }, now) => {
    await setOperatorDisabled(client, id, now);
    await deleteSignInLinks(client, id, now);
    const sessions = await deleteSessions(client, id, null);
    await audit(client, change, now, 'operator.disable', id, { ended_sessions: sessions });
  });
}

/**
 * Enables a disabled operator, which signs in as before.
 * @throws OperatorError for an unknown address
 */
export async function enableOperator(
  deps: OperatorDependencies,
  email: string,
  change: OperatorChange,
): Promise<void> {
  await changeOperator(deps, email, async (client, { id }, now) => {
    await setOperatorDisabled(client, id, null);
    await audit(client, change, now, 'operator.enable', id);
  });
}

/**
 * Changes the role of an operator; open sessions have it at once.
 * @throws OperatorError for an unknown address
 */
export async function changeOperatorRole(
  deps: OperatorDependencies,
  email: string,
  role: OperatorRole,
  change: OperatorChange,
): Promise<void> {
  await changeOperator(deps, email, async (client, operator, now) => {
    await setOperatorRole(client, operator.id, role);
    const details = { role, previous_role: operator.role };
    await audit(client, change, now, 'operator.role', operator.id, details);
  });
}

/**
 * Removes the password and the second factors of an operator, ends its sessions, and creates a new one-time link.
 * @throws OperatorError for an unknown address or a disabled operator
 */
export async function resetOperator(
  deps: OperatorDependencies,
  email: string,
  change: OperatorChange,
): Promise<IssuedLink> {
  return changeOperator(deps, email, async (client, { id, disabledAt }, now) => {
    if (disabledAt !== null) {
      throw new OperatorError('The operator is disabled: enable it first.');
    }
    await clearCredentials(client, id);
    await deleteRecoveryCodes(client, id);
    const sessions = await deleteSessions(client, id, null);
    const link = await issueLink(deps, client, id, now);
    await audit(client, change, now, 'operator.reset', id, { ended_sessions: sessions });
    return link;
  });
}

function changeOperator<Result>(
  { clock, pool }: OperatorDependencies,
  email: string,
  work: (client: PoolClient, operator: OperatorRecord, now: Date) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    const operator = await lockOperatorByEmail(client, email);
    if (operator === null) throw new OperatorError('There is no operator with this address.');
    return work(client, operator, clock.now());
  });
}
