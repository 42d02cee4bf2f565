/** Signing in with the OpenID Connect provider, or by the trusted header of a proxy. */
import {
  beginProviderProof,
  beginProviderSignIn,
  listSignInMethods,
  proveByProxy,
  signInByProxy,
} from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT, OWN_SLOTS } from '#server/http/database-slots.ts';
import type { RequestOperator } from '#server/http/require-operator.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import {
  expiredFlowCookie,
  flowCookie,
  readFlowCookie,
  requireSafeTransport,
} from '#server/http/session-cookie.ts';

import { clientOf, sendSession } from './admin-access.ts';
import * as provider from './provider-sign-in.ts';
import * as proxy from './proxy-sign-in.ts';
import { relyingPartyOf } from './rules/webauthn.ts';

type Dependencies = provider.ProviderDependencies;

export function registerProviderRoutes(app: App, deps: Dependencies): void {
  serveOperation(app, listSignInMethods, (_, _reply, raw) => viewMethods(deps, raw), NO_SLOT);
  serveOperation(app, signInByProxy, async (_, reply, raw) => {
    requireSafeTransport(raw.headers, deps.config.http.publicUrl);
    const started = await proxy.signInByProxy(deps, proxyRequestOf(raw), clientOf(raw));
    return sendSession(deps, raw, reply, started);
  });
  serveOperation(app, proveByProxy, async ({ operator }, reply, raw) => {
    const started = await proxy.proveByProxy(deps, proxyRequestOf(raw), operator);
    return sendSession(deps, raw, reply, started);
  });
  // They wait for the provider, and use no database.
  serveOperation(
    app,
    beginProviderSignIn,
    ({ body }, reply, raw) => begin(deps, null, body, reply, raw),
    NO_SLOT,
  );
  serveOperation(
    app,
    beginProviderProof,
    ({ body, operator }, reply, raw) => begin(deps, operator, body, reply, raw),
    NO_SLOT,
  );
  registerCallback(app, deps);
}

function viewMethods(deps: Dependencies, request: FastifyRequest) {
  const { http, operators } = deps.config;
  return {
    passkeys: relyingPartyOf(http.publicUrl) !== null,
    passwords: operators.passwords,
    provider: deps.provider?.config.name ?? null,
    proxy: proxy.readTrustedHeader(deps, proxyRequestOf(request)) !== null,
  };
}

async function begin(
  deps: Dependencies,
  sender: RequestOperator | null,
  { return_to: returnTo = null }: { readonly return_to?: string | null },
  reply: FastifyReply,
  { headers }: FastifyRequest,
): Promise<{ readonly url: string }> {
  const { publicUrl } = deps.config.http;
  requireSafeTransport(headers, publicUrl);
  const { url, sealed } = await provider.beginProviderSignIn(deps, sender, returnTo);
  reply.header('set-cookie', flowCookie(publicUrl, sealed, provider.FLOW_TERM));
  return { url };
}

function proxyRequestOf({ headers, ip }: FastifyRequest): proxy.ProxyRequest {
  return { headers, socketAddress: ip };
}

/** The browser comes from the provider's page, so that a refusal is a page too. */
function registerCallback(app: App, deps: Dependencies): void {
  const { publicUrl } = deps.config.http;
  const access = { access: 'callback', ...OWN_SLOTS } as const;
  app.get(
    provider.CALLBACK_PATH,
    { config: access, schema: { hide: true } },
    async (request, reply) => {
      const search = request.url.slice(request.url.indexOf('?') + 1);
      const sealed = readFlowCookie(request.headers, publicUrl) ?? '';
      const { done, failed } = provider.readReturnPaths(deps, sealed);
      reply.header('cache-control', 'no-store');
      try {
        const client = clientOf(request);
        const started = await provider.completeProviderSignIn(deps, `?${search}`, sealed, client);
        sendSession(deps, request, reply, started);
      } catch (error) {
        deps.log.debug({ event: 'operator.provider_redirected', err: error }, 'refused a sign-in');
        return reply.redirect(publicUrl + failed, 303);
      }
      const cookies = [reply.getHeader('set-cookie'), expiredFlowCookie(publicUrl)];
      reply.removeHeader('set-cookie').header('set-cookie', cookies.map(String));
      return reply.redirect(publicUrl + done, 303);
    },
  );
}
