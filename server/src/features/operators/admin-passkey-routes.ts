/** Passkeys: of the operator of a session, and signing in with them. */
import {
  CurrentOperator,
  Done,
  Passkey,
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyPath,
  PasskeyRegistration,
  PasskeyRequest,
  Passkeys,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { operatorOf } from '#server/http/require-operator.ts';
import { requireSafeTransport } from '#server/http/session-cookie.ts';

import {
  clientOf,
  GUESSABLE,
  OWN,
  OWN_FRESH,
  PREFIX,
  PUBLIC,
  PUBLIC_NO_SLOT,
  sendSession,
  SESSION_TAGS as TAGS,
} from './admin-access.ts';
import type { SessionDependencies } from './dependencies.ts';
import {
  beginPasskey,
  beginPasskeySignIn,
  listPasskeys,
  proveWithPasskey,
  registerPasskey,
  removePasskey,
  signInWithPasskey,
} from './passkeys.ts';

const PASSKEYS = `${PREFIX}/session/passkeys`;
const PASSKEY = `${PREFIX}/session/passkey`;

export function registerPasskeyRoutes(app: App, deps: SessionDependencies): void {
  app.post(`${PASSKEY}/begin`, { config: PUBLIC_NO_SLOT, schema: beginSignInOperation }, () =>
    beginPasskeySignIn(deps),
  );
  app.post(PASSKEY, { config: PUBLIC, schema: signInOperation }, async (request, reply) => {
    requireSafeTransport(request.headers, deps.config.http.publicUrl);
    const started = await signInWithPasskey(deps, request.body, clientOf(request));
    return sendSession(deps, request, reply, started);
  });
  app.post(`${PASSKEY}/prove`, { config: OWN, schema: proveOperation }, async (request, reply) => {
    const sender = operatorOf(request);
    const started = await proveWithPasskey(deps, sender, request.body, clientOf(request));
    return sendSession(deps, request, reply, started);
  });
  registerOwnPasskeys(app, deps);
}

function registerOwnPasskeys(app: App, deps: SessionDependencies): void {
  app.get(PASSKEYS, { config: OWN, schema: listOperation }, (request) =>
    listPasskeys(deps, operatorOf(request)),
  );
  app.post(`${PASSKEYS}/begin`, { config: OWN_FRESH, schema: beginOperation }, (request) =>
    beginPasskey(deps, operatorOf(request)),
  );
  app.post(PASSKEYS, { config: OWN_FRESH, schema: registerOperation }, (request) =>
    registerPasskey(deps, operatorOf(request), request.body),
  );
  app.post(
    `${PASSKEYS}/:id/remove`,
    { config: OWN_FRESH, schema: removeOperation },
    async (request) => {
      await removePasskey(deps, operatorOf(request), request.params.id);
      return DONE;
    },
  );
}

const beginSignInOperation = {
  operationId: 'beginPasskeySignIn',
  tags: TAGS,
  summary: 'Create a challenge to sign in with a passkey',
  response: { 200: ref(PasskeyRequest, 'The challenge for the browser.') },
  problems: ['not_possible', 'cross_origin'],
} satisfies FastifySchema;

const signInOperation = {
  operationId: 'signInWithPasskey',
  tags: TAGS,
  summary: 'Sign in with a passkey',
  description: 'The authenticator must have verified its user; the passkey then is both factors.',
  body: ref(PasskeyAssertion),
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['sign_in_failed', 'not_possible', ...GUESSABLE],
} satisfies FastifySchema;

const proveOperation = {
  operationId: 'proveFreshnessWithPasskey',
  tags: TAGS,
  summary: 'Prove freshness with a passkey',
  body: ref(PasskeyAssertion),
  response: { 200: ref(CurrentOperator, 'The session is fresh.') },
  problems: ['sign_in_failed', 'not_possible', 'rate_limited', 'https_required'],
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listPasskeys',
  tags: TAGS,
  summary: 'List your passkeys',
  response: { 200: ref(Passkeys, 'All your passkeys.') },
} satisfies FastifySchema;

const beginOperation = {
  operationId: 'beginPasskey',
  tags: TAGS,
  summary: 'Create the options of a new passkey',
  response: { 200: ref(PasskeyCreation, 'The options for the browser.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const registerOperation = {
  operationId: 'registerPasskey',
  tags: TAGS,
  summary: 'Register a passkey',
  body: ref(PasskeyRegistration),
  response: { 200: ref(Passkey, 'The passkey signs you in.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const removeOperation = {
  operationId: 'removePasskey',
  tags: TAGS,
  summary: 'Remove a passkey',
  params: PasskeyPath,
  response: { 200: ref(Done, 'The passkey was removed.') },
  problems: ['not_found'],
} satisfies FastifySchema;
