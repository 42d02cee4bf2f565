import type { OperatorRole } from '@latchkey/contract';
import type { FastifyRequest } from 'fastify';

import type { ErrorCode } from '@latchkey/contract/error-catalogue';
import { notSignedIn } from '#server/errors.ts';

import type { App } from './app-instance.ts';
import { presentedApiKey } from './require-api-key.ts';
import { refuseOtherOrigins, requireSameOrigin } from './same-origin.ts';
import { readSessionToken } from './session-cookie.ts';

/** Who may call an operation of the operator interface. */
export interface OperatorAccess {
  readonly role: OperatorRole;
  /** Whether a session needs a proof of the last 10 minutes. */
  readonly fresh: boolean;
  /** Whether API keys are refused: the operation is about the session itself. Default: false. */
  readonly sessionOnly?: boolean;
  /** What the operation is, for the interface document. */
  readonly permission?: string;
}

/** The `config` of a route for every operator. */
export const VIEWER = { access: { role: 'viewer', fresh: false } } as const;

/** Returns the refusals that follow from the access of a route, for its documentation. */
export function refusalsOf(
  access: OperatorAccess | 'public' | 'callback' | undefined,
  method: string | readonly string[],
): readonly ErrorCode[] {
  if (typeof access !== 'object') return [];
  return [
    'not_signed_in',
    'invalid_api_key',
    'insufficient_scope',
    'forbidden',
    ...(method === 'GET' ? [] : (['cross_origin'] as const)),
    ...(access.fresh ? (['fresh_proof_required'] as const) : []),
  ];
}

/** How a request proves who sent it. */
export type OperatorCredential =
  | { readonly kind: 'session'; readonly token: string }
  | { readonly kind: 'api_key'; readonly apiKey: string };

/** The operator, or the API key, that sent a request. */
export interface RequestOperator {
  readonly kind: 'session' | 'api_key';
  /** Of the operator or the API key; null for a configured API key. */
  readonly id: string | null;
  readonly name: string;
  /** Null for an API key. */
  readonly email: string | null;
  readonly role: OperatorRole;
  /** Until when dangerous operations need no new proof; null for an API key, which never needs one. */
  readonly freshUntil: Date | null;
  /** Null for an API key. */
  readonly sessionId: string | null;
  /** For the audit log: `operator:<e-mail address>` or `api_key:<name>`. */
  readonly actor: string;
}

/**
 * Identifies the sender of a request and decides whether it may call an operation.
 * @throws notSignedIn (401), invalidApiKey (401), forbidden (403), freshProofRequired (403)
 */
export type CheckOperator = (
  credential: OperatorCredential,
  access: OperatorAccess,
) => Promise<RequestOperator>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Required below `/api/v1/admin`; `public`: signing in, which needs nothing; `callback`: a page of another site sends the
     * browser there.
     */
    readonly access?: OperatorAccess | 'public' | 'callback';
  }
  interface FastifyRequest {
    /** Read it with {@link operatorOf}. */
    operator: RequestOperator | null;
  }
}

/**
 * Protects all routes of a scope: a route without `config.access` cannot be registered, and each request is checked against
 * it before its body is read, which may have several megabytes. An API key in `X-API-Key` or `Authorization` precedes the cookie.
 */
export function requireOperators(scope: App, publicUrl: () => string, check: CheckOperator): void {
  scope.decorateRequest('operator', null);
  scope.addHook('onRoute', ({ url, config }) => {
    if (config?.access === undefined) throw new Error(`${url} does not declare its access`);
  });
  scope.addHook('onRequest', async (request) => {
    const { access } = request.routeOptions.config;
    if (access === 'public') refuseOtherOrigins(request, publicUrl());
    else if (access === undefined) throw notSignedIn();
    else if (access !== 'callback')
      request.operator = await check(readCredential(request, publicUrl()), access);
  });
}

function readCredential(request: FastifyRequest, publicUrl: string): OperatorCredential {
  const apiKey = presentedApiKey(request.headers);
  if (apiKey !== null) return { kind: 'api_key', apiKey };
  const token = readSessionToken(request.headers, publicUrl);
  if (token === null) throw notSignedIn();
  if (request.method !== 'GET' && request.method !== 'HEAD') requireSameOrigin(request, publicUrl);
  return { kind: 'session', token };
}

/** Returns the sender of a request to a route with an access that is not public. */
export function operatorOf({ operator }: FastifyRequest): RequestOperator {
  if (operator === null) throw notSignedIn();
  return operator;
}
