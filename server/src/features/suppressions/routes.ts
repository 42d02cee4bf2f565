/** Feature: suppressed addresses, which receive no newsletter and no outreach, and the unsubscribe link of every e-mail. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';
import { sendPage, showFailuresAsPages } from '#server/http/send-page.ts';

import { createPageFrame, nameSender, type SenderSettings } from './page-frame.ts';
import { brokenLinkPage, confirmUnsubscribePage, unsubscribedPage } from './unsubscribe-pages.ts';
import { openUnsubscribeToken, unsubscribe, type UnsubscribeDependencies } from './unsubscribe.ts';

/** A wildcard, because the token of a long address exceeds the limit of a path parameter. */
const PATH = '/u/*';

type TokenRequest = FastifyRequest<{ Params: { '*': string } }>;

/**
 * Registers the page of the unsubscribe link. `GET` changes nothing, because link scanners open every link; `POST`
 * unsubscribes with any body: the button of the page and that of mail programs (RFC 8058) send it.
 */
export function registerUnsubscribeRoutes(
  app: App,
  deps: SenderSettings & UnsubscribeDependencies,
): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    showFailuresAsPages(scope, () => nameSender(deps));

    scope.get(PATH, { schema: { hide: true } }, (request: TokenRequest, reply) => {
      const email = openUnsubscribeToken(deps.vault, request.params['*']);
      return respond(deps, request, reply, email, confirmUnsubscribePage);
    });

    scope.post(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const email = await unsubscribe(deps, request.params['*']);
      return respond(deps, request, reply, email, unsubscribedPage);
    });
  });
}

function respond(
  settings: SenderSettings,
  { headers }: TokenRequest,
  reply: FastifyReply,
  email: string | null,
  createPage: typeof unsubscribedPage,
): FastifyReply {
  const frame = createPageFrame(settings, headers['accept-language']);
  if (email === null) return sendPage(reply, 404, brokenLinkPage(frame));
  return sendPage(reply, 200, createPage(frame, email));
}
