/** Feature: newsletter subscribers, subscribing by a form, confirming and unsubscribing by links, changes by an operator. */
import { SubscriberCreate, SubscriberHeaders, SubscriberResponse, ref } from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Config } from '#server/config/config.ts';
import type { App } from '#server/http/app-instance.ts';
import { addRawParser } from '#server/http/json-parser.ts';
import { limitRate } from '#server/http/limit-rate.ts';
import { limitUnlessApiKey } from '#server/http/require-api-key.ts';
import { sendPage, showFailuresAsPages } from '#server/http/send-page.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

import { authenticateApiKey } from '../api-keys/authenticate.ts';
import { createPageFrame, nameSender, type SenderSettings } from '../suppressions/page-frame.ts';
import {
  confirmSubscription,
  viewConfirmation,
  type ConfirmationView,
  type ConfirmDependencies,
} from './confirm.ts';
import {
  alreadyConfirmedPage,
  confirmedPage,
  confirmPage,
  voidLinkPage,
} from './confirmation-pages.ts';
import { subscribe, type SubscribeDependencies } from './subscribe.ts';

type SubscriberRouteDependencies = ConfirmDependencies &
  SenderSettings &
  SubscribeDependencies &
  Parameters<typeof authenticateApiKey>[0] & {
    readonly config: Pick<Config, 'subscribers'>;
    readonly counters: Counters;
    readonly metrics: { countRefusal(operation: string, reason: string): void };
  };

export function registerSubscriberRoutes(app: App, deps: SubscriberRouteDependencies): void {
  app.post(
    '/api/v1/subscribers',
    {
      preHandler: limitUnlessApiKey(
        (presented) => authenticateApiKey(deps, presented, 'subscribers:write'),
        limitSubscriptions(deps),
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
      return subscribe(deps, body.email, headers['accept-language']);
    },
  );
  registerConfirmationRoutes(app, deps);
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** The daily quota, in minutes of the rate. */
const DAY_QUOTA_MINUTES = 6;

/**
 * Limits requests, because each may send an e-mail to an arbitrary address. A request that fails validation does not
 * count.
 */
function limitSubscriptions({ clock, config, counters, metrics }: SubscriberRouteDependencies) {
  const { perMinute, burst } = config.subscribers.rate;
  const dayQuota = Math.max(DAY_QUOTA_MINUTES * perMinute, burst);
  return limitRate({
    limiter: new RateLimiter(
      counters,
      { name: 'subscribers', quota: burst, windowSeconds: (burst / perMinute) * MINUTE_SECONDS },
      { name: 'subscribers-day', quota: dayQuota, windowSeconds: DAY_SECONDS },
    ),
    clock,
    onRefusal: () => metrics.countRefusal('subscribe', 'rate_limited'),
  });
}

/** The confirmation link. A wildcard, so that a link that a mail program changed shows a page too. */
const PATH = '/s/*';

type TokenRequest = FastifyRequest<{ Params: { '*': string } }>;

/** `GET` changes nothing, because link scanners open every link; the button of the page posts. */
function registerConfirmationRoutes(app: App, deps: SubscriberRouteDependencies): void {
  app.register(async (scope: App) => {
    addRawParser(scope);
    showFailuresAsPages(scope, () => nameSender(deps));

    scope.get(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const view = await viewConfirmation(deps, request.params['*']);
      return respond(deps, request, reply, view, confirmPage);
    });

    scope.post(PATH, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const view = await confirmSubscription(deps, request.params['*']);
      return respond(deps, request, reply, view, confirmedPage);
    });
  });
}

function respond(
  settings: SenderSettings,
  { headers }: TokenRequest,
  reply: FastifyReply,
  { decision, email, language }: ConfirmationView,
  createPage: typeof confirmedPage,
): FastifyReply {
  const frame = createPageFrame(settings, headers['accept-language'], language);
  if (decision === 'void' || email === null) return sendPage(reply, 404, voidLinkPage(frame));
  const page =
    decision === 'already' ? alreadyConfirmedPage(frame, email) : createPage(frame, email);
  return sendPage(reply, 200, page);
}
