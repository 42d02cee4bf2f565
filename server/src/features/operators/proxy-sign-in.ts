/** Signing in, and proving freshness, by the trusted header of a proxy. */
import { inTransaction } from '#server/db/transaction.ts';
import { credentialRefused } from '#server/errors.ts';
import { createNetworkCheck } from '#server/lib/network-check.ts';

import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { logRefusal } from './log-refusal.ts';
import { findOperatorByEmail, type OperatorRecord } from './queries/operators.ts';
import { renew, requireOwnSession, startSessionOf, type StartedSession } from './sessions.ts';

/** The header and the address that sent it. */
export interface ProxyRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The other end of the connection. */
  readonly socketAddress: string;
}

/** Returns the address that a proxy names in its trusted header; null if another address sends it. */
export function readTrustedHeader(
  { config }: SessionDependencies,
  { headers, socketAddress }: ProxyRequest,
): string | null {
  const { trustedHeader } = config.operators;
  const value = trustedHeader === null ? undefined : headers[trustedHeader.name];
  if (trustedHeader === null || typeof value !== 'string' || value.trim() === '') return null;
  return createNetworkCheck(trustedHeader.proxies)(socketAddress) ? value.trim() : null;
}

/**
 * Signs in the operator that a proxy names; creates none.
 * @throws credentialRefused (401) without the header, from another address, and for an unknown or disabled operator
 */
export async function signInByProxy(
  deps: SessionDependencies,
  request: ProxyRequest,
  client: Client,
): Promise<StartedSession> {
  const operator = await findNamedOperator(deps, request);
  const started =
    operator === null ? null : await startSessionOf(deps, operator.id, client, 'trusted_header');
  if (started === null) throw refuse(deps);
  return started;
}

/**
 * Renews the session of an operator whom the proxy names again.
 * @throws credentialRefused (401) without the header, from another address, and for another operator
 */
export async function proveByProxy(
  deps: SessionDependencies,
  request: ProxyRequest,
  sender: AuthenticatedOperator,
): Promise<StartedSession> {
  const operator = await findNamedOperator(deps, request);
  if (operator === null || operator.id !== sender.id) throw refuse(deps);
  const session = await requireOwnSession(deps, sender);
  return inTransaction(deps.pool, (db) => renew(db, operator, session, deps.clock.now()));
}

async function findNamedOperator(
  deps: SessionDependencies,
  request: ProxyRequest,
): Promise<OperatorRecord | null> {
  const email = readTrustedHeader(deps, request);
  return email === null ? null : findOperatorByEmail(deps.pool, email);
}

function refuse(deps: SessionDependencies): Error {
  logRefusal(deps, {
    event: 'operator.proxy_sign_in_failed',
    source: 'header',
    fields: {},
    message: 'a sign-in by a trusted header failed',
  });
  return credentialRefused('The proxy does not name an operator.');
}
