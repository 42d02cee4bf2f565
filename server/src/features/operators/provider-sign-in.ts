/** Signing in with the OpenID Connect provider. */
import type { OperatorRole } from '@latchkey/contract';
import type { PoolClient } from 'pg';
import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';
import { v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import {
  credentialRefused,
  invalidRequest,
  notPossible,
  providerUnavailable,
} from '#server/errors.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { logRefusal } from './log-refusal.ts';
import { lockOperatorForProvider, setProviderFacts } from './queries/provider.ts';
import { insertOperator, lockOperator, type OperatorRecord } from './queries/operators.ts';
import type { ProviderClient } from './provider.ts';
import { provedAtProvider } from './rules/operator.ts';
import type { ProviderIdentity } from './rules/provider-claims.ts';
import { addProblem, isConsolePath } from './rules/return-path.ts';
import { renew, requireOwnSession, startSessionOf, type StartedSession } from './sessions.ts';

/** What a browser keeps, sealed, while it is at the provider. A flow with a session proves its freshness. */
const SealedFlow = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  expiresAtMs: Type.Number(),
  sessionId: Type.Union([Type.String(), Type.Null()]),
  operatorId: Type.Union([Type.String(), Type.Null()]),
  begunAt: Type.Number(),
  returnTo: Type.Union([Type.String(), Type.Null()]),
});
type SealedFlow = Static<typeof SealedFlow>;

export interface ProviderDependencies extends SessionDependencies {
  /** Null: no provider is configured. */
  readonly provider: ProviderClient | null;
}

/** In seconds. */
export const FLOW_TERM = 600;

const LABEL = 'provider_flow';

export const CALLBACK_PATH = '/api/v1/admin/session/provider/callback';

function callbackUrl({ config }: ProviderDependencies): string {
  return config.http.publicUrl + CALLBACK_PATH;
}

/**
 * Begins a sign-in, or a proof of freshness of a session.
 * @param returnTo the page of the console that the browser returns to; null: the start page
 * @returns the page of the provider, and a sealed text that only the same browser may keep
 * @throws notPossible (409) without a provider, invalidRequest (422) for another path, providerUnavailable (503)
 */
export async function beginProviderSignIn(
  deps: ProviderDependencies,
  sender: AuthenticatedOperator | null,
  returnTo: string | null,
): Promise<{ readonly url: string; readonly sealed: string }> {
  const { clock, provider, vault } = deps;
  if (provider === null) throw notPossible('No identity provider is configured.');
  if (returnTo !== null && !isConsolePath(returnTo)) throw badReturnPath();
  const { url, flow } = await provider
    .begin(callbackUrl(deps), sender !== null)
    .catch((error: unknown) => {
      logRefusal(deps, {
        event: 'operator.provider_unavailable',
        source: 'provider',
        fields: { err: error },
        message: 'could not reach the provider',
      });
      throw providerUnavailable();
    });
  const sealed: SealedFlow = {
    ...flow,
    expiresAtMs: clock.now().getTime() + FLOW_TERM * 1000,
    sessionId: sender?.sessionId ?? null,
    operatorId: sender?.id ?? null,
    returnTo,
  };
  return { url, sealed: vault.seal(JSON.stringify(sealed), LABEL).toString('base64url') };
}

function badReturnPath(): Error {
  const msg = 'Value should be /console or a path below it, without a host, // or a backslash';
  return invalidRequest([{ loc: ['body', 'return_to'], msg, type: 'value_error' }]);
}

/** The pages that the browser returns to from the provider. */
interface ReturnPaths {
  readonly done: string;
  /** Shows that the sign-in failed. */
  readonly failed: string;
}

/** Returns where a flow leads; one that was not begun here leads to the page of signing in. */
export function readReturnPaths(deps: ProviderDependencies, sealed: string): ReturnPaths {
  const path = openFlow(deps, sealed)?.returnTo ?? null;
  return {
    done: path ?? '/console/',
    failed: addProblem(path ?? '/console/sign-in', 'provider'),
  };
}

/**
 * Completes a sign-in after the provider sent the browser back.
 * @param search the query of the callback
 * @throws credentialRefused (401) when anything is wrong, rateLimited (429)
 */
export async function completeProviderSignIn(
  deps: ProviderDependencies,
  search: string,
  sealed: string,
  client: Client,
): Promise<StartedSession> {
  // Each try with a flow sends a request to the provider.
  await deps.signIns.takeNetwork(client.network);
  const started = await exchangeCode(deps, search, sealed, client);
  await deps.signIns.refundNetwork(client.network);
  return started;
}

async function exchangeCode(
  deps: ProviderDependencies,
  search: string,
  sealed: string,
  client: Client,
): Promise<StartedSession> {
  const { provider } = deps;
  const flow = openFlow(deps, sealed);
  if (provider === null || flow === null)
    throw refuse(deps, 'the sign-in was begun elsewhere or too long ago');
  const identity = await provider
    .complete(new URL(callbackUrl(deps) + search), flow, flow.sessionId !== null)
    .catch((error: unknown) => {
      throw refuse(deps, messageOf(error));
    });
  return deps.databaseLimiter.run(() => startOrRenew(deps, identity, flow, client));
}

async function startOrRenew(
  deps: ProviderDependencies,
  identity: ProviderIdentity,
  { operatorId, sessionId }: SealedFlow,
  client: Client,
): Promise<StartedSession> {
  const operator = await syncOperator(deps, identity, operatorId);
  if (sessionId === null) {
    const provedAt = provedAtProvider(identity.signedInAt, deps.clock.now());
    const started = await startSessionOf(deps, operator.id, client, 'provider', provedAt);
    if (started === null) throw refuse(deps, 'the operator is disabled');
    return started;
  }
  const session = await requireOwnSession(deps, { id: operator.id, sessionId });
  return inTransaction(deps.pool, (db) => renew(db, operator, session, deps.clock.now()));
}

function openFlow({ clock, vault }: ProviderDependencies, sealed: string): SealedFlow | null {
  try {
    const text = vault.open(Buffer.from(sealed, 'base64url'), LABEL);
    const flow = Parse(SealedFlow, JSON.parse(text));
    return flow.expiresAtMs > clock.now().getTime() ? flow : null;
  } catch {
    // Changed, cut, or sealed under another master secret.
    return null;
  }
}

function refuse(deps: SessionDependencies, reason: string): Error {
  logRefusal(deps, {
    event: 'operator.provider_sign_in_failed',
    source: reason,
    fields: { reason },
    message: 'a sign-in with the provider failed',
  });
  return credentialRefused('The identity provider did not sign you in as an operator.');
}

/**
 * Finds or creates the operator of a person, with the role that the provider assigns.
 * @param expectedId the only operator that it may be; null: any, also a new one
 */
async function syncOperator(
  deps: ProviderDependencies,
  identity: ProviderIdentity,
  expectedId: string | null,
): Promise<OperatorRecord> {
  const { subject, role } = identity;
  if (role === null) throw refuse(deps, 'the person has no role');
  return inTransaction(deps.pool, async (db) => {
    const now = deps.clock.now();
    const found = await findEnabled(db, deps, identity, expectedId);
    const { id, role: previousRole } =
      found ?? (await create(db, deps, { ...identity, role }, now));
    await setProviderFacts(db, id, subject, role);
    const operator = await lockOperator(db, id);
    if (operator === null) throw refuse(deps, 'the operator was not stored');
    if (previousRole !== role) {
      await insertAuditEntry(db, {
        occurredAt: now,
        actor: 'latchkey',
        action: previousRole === null ? 'operator.create' : 'operator.role',
        subjectId: id,
        reason: 'The identity provider assigns this role.',
        details: { role, previous_role: previousRole },
      });
    }
    return operator;
  });
}

/** @throws credentialRefused (401) for another operator than the expected one, and for one that may not sign in */
async function findEnabled(
  db: PoolClient,
  deps: ProviderDependencies,
  { subject, email }: ProviderIdentity,
  expectedId: string | null,
): Promise<OperatorRecord | null> {
  const found = await lockOperatorForProvider(db, subject, email);
  if (expectedId !== null && found?.id !== expectedId)
    throw refuse(deps, 'the provider signed in another person');
  if (found === null) return null;
  if (found.disabledAt !== null) throw refuse(deps, 'the operator is disabled');
  const isOther = found.providerSubject !== null && found.providerSubject !== subject;
  if (isOther) throw refuse(deps, 'another person of the provider has this operator');
  return found;
}

async function create(
  db: PoolClient,
  deps: ProviderDependencies,
  { email, name, role }: ProviderIdentity & { readonly role: OperatorRole },
  now: Date,
): Promise<{ readonly id: string; readonly role: null }> {
  if (email === null) throw refuse(deps, 'the e-mail address is not verified');
  const id = makeUuid();
  await insertOperator(db, { id, email, name: name ?? email, role, createdAt: now });
  return { id, role: null };
}
