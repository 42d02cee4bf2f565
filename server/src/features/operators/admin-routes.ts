/** The session of an operator: signing in and out, proof of freshness, sessions, password, one-time codes. */
import {
  CurrentOperator,
  Done,
  OperatorLink,
  OperatorLinkRedeem,
  OperatorLinkRequest,
  OperatorPasswordChange,
  OperatorProof,
  OperatorRecoveryCodes,
  OperatorSessionPath,
  OperatorSessions,
  OperatorSignIn,
  OperatorTotpCode,
  OperatorTotpSecret,
  ref,
} from '@latchkey/contract';
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';

import type { ErrorCode } from '#server/error-catalogue.ts';
import type { App } from '#server/http/app-instance.ts';
import { operatorOf, type OperatorAccess } from '#server/http/require-operator.ts';
import { expiredCookie, requireSafeTransport, sessionCookie } from '#server/http/session-cookie.ts';

import {
  beginTotp,
  changePassword,
  confirmTotp,
  disableTotp,
  redeemLink,
  renewRecoveryCodes,
  viewLink,
} from './credentials.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import {
  listSessions,
  revokeOtherSessions,
  revokeSession,
  signOut,
  viewCurrent,
  type StartedSession,
} from './sessions.ts';
import { proveFreshness, signIn } from './sign-in.ts';

const PREFIX = '/api/v1/admin';
const TAGS = ['admin: session'];

const PUBLIC = { access: 'public' } as const;
const OWN: { access: OperatorAccess } = {
  access: { role: 'viewer', fresh: false, sessionOnly: true },
};
const OWN_FRESH: { access: OperatorAccess } = {
  access: { role: 'viewer', fresh: true, sessionOnly: true },
};

const GUESSABLE = ['rate_limited', 'cross_origin', 'https_required'] as const;
const OF_SESSION = ['not_signed_in', 'invalid_api_key', 'forbidden', 'cross_origin'] as const;

/** In seconds, until the session ends at the latest. */
function maxAgeOf({ current: { expires_at: end } }: StartedSession, now: Date): number {
  return end === null ? 0 : Math.floor((Date.parse(end) - now.getTime()) / 1000);
}

export function registerSessionRoutes(app: App, deps: SessionDependencies): void {
  const publicUrl = (): string => deps.config.http.publicUrl;

  function sendSession(
    request: FastifyRequest,
    reply: FastifyReply,
    started: StartedSession,
  ): CurrentOperator {
    const maxAge = maxAgeOf(started, deps.clock.now());
    reply.header('set-cookie', sessionCookie(request.headers, publicUrl(), started.token, maxAge));
    return started.current;
  }

  app.post(
    `${PREFIX}/session`,
    { config: PUBLIC, schema: signInOperation },
    async (request, reply) => {
      requireSafeTransport(request.headers, publicUrl());
      return sendSession(request, reply, await signIn(deps, request.body, clientOf(request)));
    },
  );
  app.post(`${PREFIX}/session/link`, { config: PUBLIC, schema: viewLinkOperation }, (request) =>
    viewLink(deps, request.body.token, clientOf(request)),
  );
  app.post(
    `${PREFIX}/session/redeem`,
    { config: PUBLIC, schema: redeemOperation },
    async (request, reply) => {
      requireSafeTransport(request.headers, publicUrl());
      return sendSession(request, reply, await redeemLink(deps, request.body, clientOf(request)));
    },
  );
  app.post(
    `${PREFIX}/session/prove`,
    { config: OWN, schema: proveOperation },
    async (request, reply) => {
      const sender = operatorOf(request);
      const started = await proveFreshness(deps, sender, request.body, clientOf(request));
      return sendSession(request, reply, started);
    },
  );
  app.post(
    `${PREFIX}/session/sign-out`,
    { config: OWN, schema: signOutOperation },
    async (request, reply) => {
      await signOut(deps, operatorOf(request));
      reply.header('set-cookie', expiredCookie(publicUrl()));
      return DONE;
    },
  );
  registerOwnSessions(app, deps);
  registerCredentials(app, deps);
}

const DONE: Done = { done: true };

function registerOwnSessions(app: App, deps: SessionDependencies): void {
  app.get(
    `${PREFIX}/session`,
    { config: { access: { role: 'viewer', fresh: false } }, schema: viewOperation },
    (request) => viewCurrent(deps, operatorOf(request)),
  );
  app.get(`${PREFIX}/sessions`, { config: OWN, schema: listOperation }, (request) =>
    listSessions(deps, operatorOf(request)),
  );
  app.post(
    `${PREFIX}/sessions/revoke-others`,
    { config: OWN, schema: revokeOthersOperation },
    async (request) => {
      await revokeOtherSessions(deps, operatorOf(request));
      return DONE;
    },
  );
  app.post(
    `${PREFIX}/sessions/:id/revoke`,
    { config: OWN, schema: revokeOperation },
    async (request) => {
      await revokeSession(deps, operatorOf(request), request.params.id);
      return DONE;
    },
  );
}

function registerCredentials(app: App, deps: SessionDependencies): void {
  app.post(
    `${PREFIX}/session/password`,
    { config: OWN_FRESH, schema: passwordOperation },
    async (request) => {
      await changePassword(deps, operatorOf(request), request.body.password);
      return DONE;
    },
  );
  app.post(`${PREFIX}/session/totp`, { config: OWN_FRESH, schema: beginTotpOperation }, (request) =>
    beginTotp(deps, operatorOf(request)),
  );
  app.post(
    `${PREFIX}/session/totp/enable`,
    { config: OWN_FRESH, schema: enableTotpOperation },
    (request) => confirmTotp(deps, operatorOf(request), request.body.code),
  );
  app.post(
    `${PREFIX}/session/totp/disable`,
    { config: OWN_FRESH, schema: disableTotpOperation },
    async (request) => {
      await disableTotp(deps, operatorOf(request));
      return DONE;
    },
  );
  app.post(
    `${PREFIX}/session/recovery-codes`,
    { config: OWN_FRESH, schema: recoveryOperation },
    (request) => renewRecoveryCodes(deps, operatorOf(request)),
  );
}

function clientOf({ clientNetwork, headers }: FastifyRequest): Client {
  return { network: clientNetwork, userAgent: headers['user-agent'] ?? '' };
}

const signInOperation = {
  operationId: 'signIn',
  tags: TAGS,
  summary: 'Sign in',
  description:
    'Sets the cookie of a session, which ends after 7 days without use and after 30 days. An unknown address, a disabled operator and a wrong password have the same answer.',
  body: ref(OperatorSignIn),
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['sign_in_failed', 'code_required', ...GUESSABLE],
} satisfies FastifySchema;

const viewLinkOperation = {
  operationId: 'viewOperatorLink',
  tags: TAGS,
  summary: 'Show whose one-time link it is',
  body: ref(OperatorLinkRequest),
  response: { 200: ref(OperatorLink, 'The link can be redeemed.') },
  problems: ['link_invalid', 'rate_limited', 'cross_origin'],
} satisfies FastifySchema;

const redeemOperation = {
  operationId: 'redeemOperatorLink',
  tags: TAGS,
  summary: 'Redeem a one-time link',
  description: 'Sets the password of the operator and signs in. A link works once.',
  body: ref(OperatorLinkRedeem),
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['link_invalid', ...GUESSABLE],
} satisfies FastifySchema;

const proveOperation = {
  operationId: 'proveFreshness',
  tags: TAGS,
  summary: 'Prove freshness again',
  description:
    'Dangerous operations need a proof of the last 10 minutes. The session gets a new cookie.',
  body: ref(OperatorProof),
  response: { 200: ref(CurrentOperator, 'The session is fresh.') },
  problems: ['sign_in_failed', 'code_required', 'rate_limited', 'https_required', ...OF_SESSION],
} satisfies FastifySchema;

const signOutOperation = {
  operationId: 'signOut',
  tags: TAGS,
  summary: 'Sign out',
  response: { 200: ref(Done, 'The session ended.') },
  problems: ['not_found', ...OF_SESSION],
} satisfies FastifySchema;

const viewOperation = {
  operationId: 'viewSession',
  tags: TAGS,
  summary: 'Show who is signed in',
  response: { 200: ref(CurrentOperator, 'The sender of the request.') },
  problems: ['not_signed_in', 'invalid_api_key', 'insufficient_scope', 'forbidden'],
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listSessions',
  tags: TAGS,
  summary: 'List your sessions',
  response: { 200: ref(OperatorSessions, 'The newest 100 sessions.') },
  problems: ['not_signed_in', 'invalid_api_key', 'forbidden'],
} satisfies FastifySchema;

const revokeOperation = {
  operationId: 'revokeSession',
  tags: TAGS,
  summary: 'End one of your sessions',
  params: OperatorSessionPath,
  response: { 200: ref(Done, 'The session ended.') },
  problems: ['not_found', ...OF_SESSION],
} satisfies FastifySchema;

const revokeOthersOperation = {
  operationId: 'revokeOtherSessions',
  tags: TAGS,
  summary: 'End all your other sessions',
  response: { 200: ref(Done, 'Only this session is left.') },
  problems: OF_SESSION,
} satisfies FastifySchema;

const OF_FRESH_SESSION: readonly ErrorCode[] = [...OF_SESSION, 'fresh_proof_required'];

const passwordOperation = {
  operationId: 'changeOperatorPassword',
  tags: TAGS,
  summary: 'Change your password',
  description: 'Ends all your other sessions.',
  body: ref(OperatorPasswordChange),
  response: { 200: ref(Done, 'The password was changed.') },
  problems: OF_FRESH_SESSION,
} satisfies FastifySchema;

const beginTotpOperation = {
  operationId: 'beginTotp',
  tags: TAGS,
  summary: 'Create a secret for one-time codes',
  description:
    'It is not used before it is confirmed by a code. One-time codes that are enabled must be disabled first.',
  response: { 200: ref(OperatorTotpSecret, 'The secret, which cannot be shown again.') },
  problems: ['totp_state', ...OF_FRESH_SESSION],
} satisfies FastifySchema;

const enableTotpOperation = {
  operationId: 'enableTotp',
  tags: TAGS,
  summary: 'Enable one-time codes',
  body: ref(OperatorTotpCode),
  response: { 200: ref(OperatorRecoveryCodes, 'Signing in needs a code from now on.') },
  problems: ['sign_in_failed', 'totp_state', ...OF_FRESH_SESSION],
} satisfies FastifySchema;

const disableTotpOperation = {
  operationId: 'disableTotp',
  tags: TAGS,
  summary: 'Disable one-time codes',
  response: { 200: ref(Done, 'Signing in needs no code.') },
  problems: OF_FRESH_SESSION,
} satisfies FastifySchema;

const recoveryOperation = {
  operationId: 'renewRecoveryCodes',
  tags: TAGS,
  summary: 'Replace your recovery codes',
  response: { 200: ref(OperatorRecoveryCodes, 'The previous codes are void.') },
  problems: ['totp_state', ...OF_FRESH_SESSION],
} satisfies FastifySchema;
