/** Feature: create, list, disable, enable and reset the accounts of the console. */
import { randomBytes } from 'node:crypto';

import type { OperatorRole } from '@latchkey/contract';
import type { Pool, PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { conflict, noSuch, notPossible } from '#server/errors.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import {
  clearCredentials,
  insertOperator,
  listOperatorRecords,
  type ListedOperator,
  lockOperatorAndAdmins,
  setOperatorDisabled,
  setOperatorRole,
  type OperatorRecord,
  type OperatorReference,
} from './queries/operators.ts';
import { deleteNetworks } from './queries/networks.ts';
import { deletePasskeys } from './queries/passkeys.ts';
import { deleteRecoveryCodes } from './queries/recovery-codes.ts';
import { deleteSessions } from './queries/sessions.ts';
import { deleteSignInLinks, insertSignInLink } from './queries/sign-in-links.ts';
import { LINK_TERM_MS, operatorState } from './rules/operator.ts';
import { createToken, hashToken } from './rules/token.ts';
import { viewOperator } from './view-operator.ts';

export interface OperatorDependencies {
  readonly clock: Clock;
  readonly config: {
    readonly http: Pick<Config['http'], 'publicUrl'>;
    readonly operators: Config['operators'];
  };
  readonly pool: Pool;
}

/** A change, with its actor and reason for the audit log. */
export interface OperatorChange {
  readonly actor: string;
  readonly reason: string | null;
  /** The operator that changes another one: it cannot end its own access. */
  readonly actorId?: string | null;
  /** The version that the actor saw; default: any. */
  readonly expectedVersion?: number;
}

/** A one-time link in plain text, which cannot be shown again. */
export interface IssuedLink {
  readonly operatorId: string;
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * Creates an operator, and a one-time link with which it sets its password.
 * @throws notPossible (409) when there is an operator with the address
 */
export async function createOperator(
  deps: OperatorDependencies,
  newOperator: { readonly email: string; readonly name: string; readonly role: OperatorRole },
  change: OperatorChange,
): Promise<IssuedLink> {
  const now = deps.clock.now();
  const id = makeUuid();
  return inTransaction(deps.pool, async (client) => {
    if (!(await insertOperator(client, { id, ...newOperator, createdAt: now }))) {
      throw notPossible(
        'There is an operator with this address already. A reset creates a new link for it.',
      );
    }
    const link = await issueLink(deps, client, id, now);
    await audit(client, change, now, 'operator.create', id, { role: newOperator.role });
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
  { actor, reason }: OperatorChange,
  occurredAt: Date,
  action: string,
  subjectId: string,
  details: AuditEntry['details'] = {},
): Promise<void> {
  return insertAuditEntry(client, { actor, reason, occurredAt, action, subjectId, details });
}

const MAX_LISTED = 1_000;

/** Lists the first 1,000 operators by e-mail address. */
export async function listOperators(
  deps: Pick<OperatorDependencies, 'pool'>,
): Promise<ListedOperator[]> {
  return listOperatorRecords(deps.pool, MAX_LISTED);
}

/**
 * Disables an operator: ends its sessions and deletes its sign-in links.
 * @throws noSuch (404), conflict (409), notPossible (409) for the last administrator
 */
export async function disableOperator(
  deps: OperatorDependencies,
  reference: OperatorReference,
  change: OperatorChange,
): Promise<OperatorRecord> {
  return changeOperator(deps, reference, change, async (client, operator, now, admins) => {
    const { id } = operator;
    requireOther(operator, change);
    requireOtherAdmin(operator, admins);
    await setOperatorDisabled(client, id, now);
    await deleteSignInLinks(client, id, now);
    const sessions = await deleteSessions(client, id, null);
    await audit(client, change, now, 'operator.disable', id, { ended_sessions: sessions });
    return { ...operator, disabledAt: now, version: operator.version + 1 };
  });
}

/**
 * Enables a disabled operator, which signs in as before.
 * @throws noSuch (404), conflict (409)
 */
export async function enableOperator(
  deps: OperatorDependencies,
  reference: OperatorReference,
  change: OperatorChange,
): Promise<OperatorRecord> {
  return changeOperator(deps, reference, change, async (client, operator, now) => {
    await setOperatorDisabled(client, operator.id, null);
    await audit(client, change, now, 'operator.enable', operator.id);
    return { ...operator, disabledAt: null, version: operator.version + 1 };
  });
}

/**
 * Changes the role of an operator; open sessions have it at once.
 * @throws noSuch (404), conflict (409), notPossible (409) for the last administrator
 */
export async function changeOperatorRole(
  deps: OperatorDependencies,
  reference: OperatorReference,
  role: OperatorRole,
  change: OperatorChange,
): Promise<OperatorRecord> {
  return changeOperator(deps, reference, change, async (client, operator, now, admins) => {
    if (role !== 'admin') requireOtherAdmin(operator, admins);
    await setOperatorRole(client, operator.id, role);
    const details = { role, previous_role: operator.role };
    await audit(client, change, now, 'operator.role', operator.id, details);
    return { ...operator, role, version: operator.version + 1 };
  });
}

/**
 * Removes the password and the second factors of an operator, ends its sessions, and creates a new one-time link.
 * @throws noSuch (404), conflict (409), notPossible (409) for a disabled operator
 */
export async function resetOperator(
  deps: OperatorDependencies,
  reference: OperatorReference,
  change: OperatorChange,
): Promise<IssuedLink> {
  return changeOperator(deps, reference, change, async (client, operator, now) => {
    const { id, disabledAt } = operator;
    requireOther(operator, change);
    if (disabledAt !== null) throw notPossible('The operator is disabled: enable it first.');
    await clearCredentials(client, id);
    await deleteRecoveryCodes(client, id);
    await deletePasskeys(client, id);
    await deleteNetworks(client, id);
    const sessions = await deleteSessions(client, id, null);
    const link = await issueLink(deps, client, id, now);
    await audit(client, change, now, 'operator.reset', id, { ended_sessions: sessions });
    return link;
  });
}

/** Runs a change of an operator, one after the other with changes of administrators. */
async function changeOperator<Result>(
  { clock, pool }: OperatorDependencies,
  reference: OperatorReference,
  { expectedVersion }: OperatorChange,
  work: (
    client: PoolClient,
    operator: OperatorRecord,
    now: Date,
    admins: readonly OperatorRecord[],
  ) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    const { operator, admins } = await lockOperatorAndAdmins(client, reference);
    if (operator === null) throw noSuch('There is no such operator.');
    if (expectedVersion !== undefined && expectedVersion !== operator.version) {
      throw conflict(viewOperator(operator));
    }
    return work(client, operator, clock.now(), admins);
  });
}

function requireOther({ id }: OperatorRecord, { actorId = null }: OperatorChange): void {
  if (id !== actorId) return;
  throw notPossible('This is your own account: another administrator can disable or reset it.');
}

/** Keeps one administrator that can sign in: the command line of the server would be the only way left. */
function requireOtherAdmin(operator: OperatorRecord, admins: readonly OperatorRecord[]): void {
  if (operator.role !== 'admin' || operatorState(operator) !== 'active') return;
  if (admins.some((each) => each.id !== operator.id && operatorState(each) === 'active')) return;
  throw notPossible(
    'This is the last administrator who can sign in: create or promote another one first.',
  );
}
