import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';
import { sendPage, showFailuresAsPages } from '#server/http/send-page.ts';

import { nameSender, framePage } from './page-frame.ts';
import { askToUnsubscribePage, brokenLinkPage, unsubscribedPage } from './unsubscribe-pages.ts';
import { readUnsubscribeToken, unsubscribe } from './unsubscribe.ts';

/** The token of a long address is longer than a path's parameter may be, so it is what is left of the path. */
const PATH = '/u/*';

type TokenRequest = FastifyRequest<{ Params: { '*': string } }>;

/**
 * What the link in every mail leads to. `GET` shows a page and changes nothing, for link scanners open everything;
 * `POST` acts, whatever its body says: it is the page's button, or that of a mail program (RFC 8058).
 */
export function registerUnsubscribeRoutes(app: App, ctx: Context): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    showFailuresAsPages(scope, () => nameSender(ctx));

    scope.get(PATH, { schema: { hide: true } }, (request: TokenRequest, reply) => {
      const email = readUnsubscribeToken(ctx.vault, request.params['*']);
      return answer(ctx, request, reply, email, askToUnsubscribePage);
    });

    scope.post(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const email = await unsubscribe(ctx, request.params['*']);
      return answer(ctx, request, reply, email, unsubscribedPage);
    });
  });
}

function answer(
  ctx: Context,
  { headers }: TokenRequest,
  reply: FastifyReply,
  email: string | null,
  page: typeof unsubscribedPage,
): FastifyReply {
  const frame = framePage(ctx, headers['accept-language']);
  if (email === null) return sendPage(reply, 404, brokenLinkPage(frame));
  return sendPage(reply, 200, page(frame, email));
}
