/** The session of an operator: signing in and out, proof of freshness, sessions. */
import {
  CurrentOperator,
  Done,
  OperatorLink,
  OperatorLinkRedeem,
  OperatorLinkRequest,
  OperatorProof,
  OperatorSessionPath,
  OperatorSessions,
  OperatorSignIn,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { operatorOf, VIEWER } from '#server/http/require-operator.ts';
import { expiredCookie, requireSafeTransport } from '#server/http/session-cookie.ts';

import {
  clientOf,
  GUESSABLE,
  OWN,
  PREFIX,
  PUBLIC,
  PUBLIC_OWN_SLOTS,
  sendSession,
  SESSION_TAGS as TAGS,
} from './admin-access.ts';
import { redeemLink, viewLink } from './credentials.ts';
import type { SessionDependencies } from './dependencies.ts';
import {
  listSessions,
  revokeOtherSessions,
  revokeSession,
  signOut,
  viewCurrent,
} from './sessions.ts';
import { proveFreshness, signIn } from './sign-in.ts';

export function registerSessionRoutes(app: App, deps: SessionDependencies): void {
  const publicUrl = (): string => deps.config.http.publicUrl;

  app.post(
    `${PREFIX}/session`,
    { config: PUBLIC_OWN_SLOTS, schema: signInOperation },
    async (request, reply) => {
      requireSafeTransport(request.headers, publicUrl());
      return sendSession(deps, request, reply, await signIn(deps, request.body, clientOf(request)));
    },
  );
  app.post(`${PREFIX}/session/link`, { config: PUBLIC, schema: viewLinkOperation }, (request) =>
    viewLink(deps, request.body.token, clientOf(request)),
  );
  app.post(
    `${PREFIX}/session/redeem`,
    { config: PUBLIC_OWN_SLOTS, schema: redeemOperation },
    async (request, reply) => {
      requireSafeTransport(request.headers, publicUrl());
      return sendSession(
        deps,
        request,
        reply,
        await redeemLink(deps, request.body, clientOf(request)),
      );
    },
  );
  app.post(
    `${PREFIX}/session/prove`,
    { config: { ...OWN, ...OWN_SLOTS }, schema: proveOperation },
    async (request, reply) => {
      const sender = operatorOf(request);
      const started = await proveFreshness(deps, sender, request.body, clientOf(request));
      return sendSession(deps, request, reply, started);
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
}

function registerOwnSessions(app: App, deps: SessionDependencies): void {
  app.get(`${PREFIX}/session`, { config: VIEWER, schema: viewOperation }, (request) =>
    viewCurrent(deps, operatorOf(request)),
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

const signInOperation = {
  operationId: 'signIn',
  tags: TAGS,
  summary: 'Sign in',
  description:
    'Sets the cookie of a session, which ends after 7 days without use and after 30 days. An unknown address, a disabled operator and a wrong password have the same answer.',
  body: ref(OperatorSignIn),
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['sign_in_failed', 'code_required', 'not_possible', ...GUESSABLE],
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
  description:
    'Sets the password of the operator, unless passwords are switched off, and signs in. A link works once.',
  body: ref(OperatorLinkRedeem),
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['link_invalid', 'not_possible', ...GUESSABLE],
} satisfies FastifySchema;

const proveOperation = {
  operationId: 'proveFreshness',
  tags: TAGS,
  summary: 'Prove freshness again',
  description:
    'Dangerous operations need a proof of the last 10 minutes. The session gets a new cookie.',
  body: ref(OperatorProof),
  response: { 200: ref(CurrentOperator, 'The session is fresh.') },
  problems: ['sign_in_failed', 'code_required', 'not_possible', 'rate_limited', 'https_required'],
} satisfies FastifySchema;

const signOutOperation = {
  operationId: 'signOut',
  tags: TAGS,
  summary: 'Sign out',
  response: { 200: ref(Done, 'The session ended.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const viewOperation = {
  operationId: 'viewSession',
  tags: TAGS,
  summary: 'Show who is signed in',
  response: { 200: ref(CurrentOperator, 'The sender of the request.') },
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listSessions',
  tags: TAGS,
  summary: 'List your sessions',
  response: { 200: ref(OperatorSessions, 'The newest 100 sessions.') },
} satisfies FastifySchema;

const revokeOperation = {
  operationId: 'revokeSession',
  tags: TAGS,
  summary: 'End one of your sessions',
  params: OperatorSessionPath,
  response: { 200: ref(Done, 'The session ended.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const revokeOthersOperation = {
  operationId: 'revokeOtherSessions',
  tags: TAGS,
  summary: 'End all your other sessions',
  response: { 200: ref(Done, 'Only this session is left.') },
} satisfies FastifySchema;
