/** Signing in with the OpenID Connect provider, or by the trusted header of a proxy. */
import {
  CurrentOperator,
  ProviderSignIn,
  ProviderStart,
  ref,
  SignInMethods,
} from '@latchkey/contract';
import type { FastifyRequest, FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT, OWN_SLOTS } from '#server/http/database-slots.ts';
import { operatorOf } from '#server/http/require-operator.ts';
import {
  expiredFlowCookie,
  flowCookie,
  readFlowCookie,
  requireSafeTransport,
} from '#server/http/session-cookie.ts';

import {
  clientOf,
  OWN,
  PREFIX,
  PUBLIC,
  PUBLIC_NO_SLOT,
  sendSession,
  SESSION_TAGS as TAGS,
} from './admin-access.ts';
import {
  beginProviderSignIn,
  CALLBACK_PATH,
  completeProviderSignIn,
  FLOW_TERM,
  readReturnPaths,
  type ProviderDependencies,
} from './provider-sign-in.ts';
import {
  proveByProxy,
  readTrustedHeader,
  signInByProxy,
  type ProxyRequest,
} from './proxy-sign-in.ts';
import { relyingPartyOf } from './rules/webauthn.ts';

const PROVIDER = `${PREFIX}/session/provider`;

export function registerProviderRoutes(app: App, deps: ProviderDependencies): void {
  const { config } = deps;
  app.get(
    `${PREFIX}/session/methods`,
    { config: PUBLIC_NO_SLOT, schema: methodsOperation },
    (request) => ({
      passkeys: relyingPartyOf(config.http.publicUrl) !== null,
      passwords: config.operators.passwords,
      provider: deps.provider?.config.name ?? null,
      proxy: readTrustedHeader(deps, proxyRequestOf(request)) !== null,
    }),
  );
  app.post(
    `${PREFIX}/session/proxy`,
    { config: PUBLIC, schema: proxyOperation },
    async (request, reply) => {
      requireSafeTransport(request.headers, config.http.publicUrl);
      const started = await signInByProxy(deps, proxyRequestOf(request), clientOf(request));
      return sendSession(deps, request, reply, started);
    },
  );
  app.post(
    `${PREFIX}/session/proxy/prove`,
    { config: OWN, schema: proveByProxyOperation },
    async (request, reply) => {
      const started = await proveByProxy(deps, proxyRequestOf(request), operatorOf(request));
      return sendSession(deps, request, reply, started);
    },
  );
  // They wait for the provider, and use no database.
  for (const [path, access, schema] of [
    [`${PROVIDER}/begin`, PUBLIC, beginOperation],
    [`${PROVIDER}/prove`, OWN, proveOperation],
  ] as const) {
    app.post(path, { config: { ...access, ...NO_SLOT }, schema }, async (request, reply) => {
      const { publicUrl } = config.http;
      requireSafeTransport(request.headers, publicUrl);
      const sender = access === OWN ? operatorOf(request) : null;
      const { return_to: returnTo = null } = request.body;
      const { url, sealed } = await beginProviderSignIn(deps, sender, returnTo);
      reply.header('set-cookie', flowCookie(publicUrl, sealed, FLOW_TERM));
      return { url };
    });
  }
  registerCallback(app, deps);
}

function proxyRequestOf({ headers, ip }: FastifyRequest): ProxyRequest {
  return { headers, socketAddress: ip };
}

/** The browser comes from the provider's page, so that a refusal is a page too. */
function registerCallback(app: App, deps: ProviderDependencies): void {
  const { publicUrl } = deps.config.http;
  const access = { access: 'callback', ...OWN_SLOTS } as const;
  app.get(CALLBACK_PATH, { config: access, schema: { hide: true } }, async (request, reply) => {
    const search = request.url.slice(request.url.indexOf('?') + 1);
    const sealed = readFlowCookie(request.headers, publicUrl) ?? '';
    const { done, failed } = readReturnPaths(deps, sealed);
    reply.header('cache-control', 'no-store');
    try {
      const client = clientOf(request);
      const started = await completeProviderSignIn(deps, `?${search}`, sealed, client);
      sendSession(deps, request, reply, started);
    } catch (error) {
      deps.log.debug({ event: 'operator.provider_redirected', err: error }, 'refused a sign-in');
      return reply.redirect(publicUrl + failed, 303);
    }
    const cookies = [reply.getHeader('set-cookie'), expiredFlowCookie(publicUrl)];
    reply.removeHeader('set-cookie').header('set-cookie', cookies.map(String));
    return reply.redirect(publicUrl + done, 303);
  });
}

const methodsOperation = {
  operationId: 'listSignInMethods',
  tags: TAGS,
  summary: 'Show how operators can sign in',
  response: { 200: ref(SignInMethods, 'The methods of this service.') },
  problems: ['cross_origin'],
} satisfies FastifySchema;

const proxyOperation = {
  operationId: 'signInByProxy',
  tags: TAGS,
  summary: 'Sign in as the operator that a trusted proxy names',
  response: { 200: ref(CurrentOperator, 'The operator is signed in.') },
  problems: ['sign_in_failed', 'cross_origin', 'https_required'],
} satisfies FastifySchema;

const proveByProxyOperation = {
  operationId: 'proveByProxy',
  tags: TAGS,
  summary: 'Prove freshness as the operator that a trusted proxy names',
  response: { 200: ref(CurrentOperator, 'The session has a new token.') },
  problems: ['sign_in_failed', 'https_required'],
} satisfies FastifySchema;

const beginOperation = {
  operationId: 'beginProviderSignIn',
  tags: TAGS,
  summary: 'Begin to sign in with the identity provider',
  description:
    'The browser opens `url` next; the provider sends it back to the page `return_to`. A failure adds `problem=provider` to its query.',
  body: ref(ProviderStart),
  response: { 200: ref(ProviderSignIn, 'The page of the provider.') },
  problems: ['not_possible', 'cross_origin', 'https_required', 'provider_unavailable'],
} satisfies FastifySchema;

const proveOperation = {
  operationId: 'beginProviderProof',
  tags: TAGS,
  summary: 'Begin to prove freshness with the identity provider',
  description:
    'As above. The provider must state when it asked for the credential (`auth_time`): an earlier sign-in there proves nothing.',
  body: ref(ProviderStart),
  response: { 200: ref(ProviderSignIn, 'The page of the provider.') },
  problems: ['not_possible', 'https_required', 'provider_unavailable'],
} satisfies FastifySchema;
