import { SubscriberCreate, SubscriberHeaders, SubscriberResponse, ref } from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';
import { limitRate } from '#server/http/limit-rate.ts';
import { limitUnlessApiKey } from '#server/http/require-api-key.ts';
import { sendPage, showFailuresAsPages } from '#server/http/send-page.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

import { authenticateApiKey } from '../api-keys/authenticate.ts';
import { nameSender, framePage } from '../suppressions/page-frame.ts';
import { confirmSubscription, viewConfirmation, type ConfirmationView } from './confirm.ts';
import {
  alreadyConfirmedPage,
  askToConfirmPage,
  confirmedPage,
  voidLinkPage,
} from './confirmation-pages.ts';
import { subscribe } from './subscribe.ts';

/** Those who asked for news. */
export function registerSubscriberRoutes(app: App, ctx: Context): void {
  app.post(
    '/api/v1/subscribers',
    {
      preHandler: limitUnlessApiKey(
        (presented) => authenticateApiKey(ctx, presented, 'subscribers:write'),
        limitSubscriptions(ctx),
      ),
      schema: {
        operationId: 'subscribe',
        tags: ['subscribers'],
        summary: 'Subscribe an e-mail address to news',
        description:
          'The answer is the same whether or not the address was known before: the same id for the same address, and ' +
          'the time of this request. Where the service sends mail, the owner of the address is asked to confirm. ' +
          'The language of that mail is chosen by `Accept-Language`.',
        headers: SubscriberHeaders,
        body: ref(SubscriberCreate),
        response: { 201: ref(SubscriberResponse, 'The address is subscribed.') },
        problems: ['rate_limited', 'invalid_api_key', 'insufficient_scope'],
      },
    },
    async (request, reply) => {
      const { body, headers } = request;
      reply.code(201);
      return subscribe(ctx, body.email, headers['accept-language']);
    },
  );
  registerConfirmationRoutes(app, ctx);
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** The limit of a day, in minutes' worth of requests. */
const DAY_QUOTA_MINUTES = 6;

/**
 * Nobody subscribes more often by himself, and each request may send a mail to somebody. A request that is refused for
 * what it holds sends none, and does not count.
 */
function limitSubscriptions({ clock, config, metrics }: Context) {
  const { perMinute, burst } = config.subscribers.rate;
  const dayQuota = Math.max(DAY_QUOTA_MINUTES * perMinute, burst);
  return limitRate({
    limiter: new RateLimiter(
      { name: 'subscribers', quota: burst, windowSeconds: (burst / perMinute) * MINUTE_SECONDS },
      { name: 'subscribers-day', quota: dayQuota, windowSeconds: DAY_SECONDS },
    ),
    clock,
    onRefusal: () => metrics.countRefusal('subscribe', 'rate_limited'),
  });
}

/**
 * The link of the mail that asks for a confirmation. The token is all that is left of the path: whoever follows a link that
 * a mail program has mangled is shown a page, too.
 */
const PATH = '/s/*';

type TokenRequest = FastifyRequest<{ Params: { '*': string } }>;

/** `GET` shows a page and changes nothing, for link scanners open everything; the page's button posts. */
function registerConfirmationRoutes(app: App, ctx: Context): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    showFailuresAsPages(scope, () => nameSender(ctx));

    scope.get(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const view = await viewConfirmation(ctx, request.params['*']);
      return answer(ctx, request, reply, view, askToConfirmPage);
    });

    scope.post(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const view = await confirmSubscription(ctx, request.params['*']);
      return answer(ctx, request, reply, view, confirmedPage);
    });
  });
}

function answer(
  ctx: Context,
  { headers }: TokenRequest,
  reply: FastifyReply,
  { decision, email, language }: ConfirmationView,
  page: typeof confirmedPage,
): FastifyReply {
  const frame = framePage(ctx, headers['accept-language'], language);
  if (decision === 'void' || email === null) return sendPage(reply, 404, voidLinkPage(frame));
  return sendPage(
    reply,
    200,
    decision === 'already' ? alreadyConfirmedPage(frame, email) : page(frame, email),
  );
}
