import {
  AdminSubscriberDetail,
  AdminSubscriberList,
  AdminSubscriberPath,
  AdminSubscriberQuery,
  AdminSubscriberRows,
  Done,
  ref,
  SubscriberChange,
} from '@latchkey/contract';
import type { FastifyRequest, FastifySchema } from 'fastify';

import { conflict, notFound } from '#server/errors.ts';
import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import {
  ADMIN,
  ADMIN_FRESH,
  SUPPORT,
  SUPPORT_FRESH,
  VIEWER,
  operatorOf,
} from '#server/http/require-operator.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import type { ManualChange } from '../suppressions/change-address.ts';
import { toSubscriberDetail, toSubscriberItem, toSubscriberQuery } from './subscriber-views.ts';
import { exportSubscribers, readSubscriberPage, SUBSCRIBER_COLUMNS } from './list-subscribers.ts';
import { eraseSubscriber, unsubscribeManually } from './manual-changes.ts';
import { resendConfirmation, type ResendDependencies } from './resend-confirmation.ts';
import { findSubscriberEmail, showSubscriberById } from './view-subscribers.ts';

const PATH = '/api/v1/admin/subscribers';
const TAGS = ['admin: subscribers'];

/** Also the first of the sorts in the contract. */
const NEWEST = '-first_subscribed_at';

/** Registers the operations on newsletter subscribers for operators. */
export function registerAdminSubscriberRoutes(
  app: App,
  deps: ResendDependencies & { readonly databaseLimiter: ConcurrencyLimiter },
): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, NEWEST),
      (page) => readSubscriberPage(deps, toSubscriberQuery(query), page),
      toSubscriberItem,
    ),
  );
  app.get(
    `${PATH}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const query = toSubscriberQuery(request.query);
      const rows = await exportSubscribers(deps, query, readOrder(request.query, NEWEST), actor);
      return answerCsv(reply, 'subscribers', SUBSCRIBER_COLUMNS, rows);
    },
  );
  app.get(`${PATH}/:id`, { config: VIEWER, schema: showOperation }, ({ params }) =>
    show(deps, params.id),
  );
  registerChanges(app, deps);
}

function registerChanges(app: App, deps: ResendDependencies): void {
  app.post(
    `${PATH}/:id/resend-confirmation`,
    { config: SUPPORT, schema: resendOperation },
    async (request) => {
      const isQueued = await resendConfirmation(deps, await readChange(deps, request));
      if (!isQueued) throw conflict(await show(deps, request.params.id));
      return DONE;
    },
  );
  app.post(
    `${PATH}/:id/unsubscribe`,
    { config: ADMIN, schema: unsubscribeOperation },
    async (request) => {
      const change = await readChange(deps, request);
      await unsubscribeManually(deps, change);
      return show(deps, request.params.id);
    },
  );
  app.post(
    `${PATH}/:id/erase`,
    { config: ADMIN_FRESH, schema: eraseOperation },
    async (request) => {
      await eraseSubscriber(deps, await readChange(deps, request));
      return DONE;
    },
  );
}

async function show(deps: ResendDependencies, id: string): Promise<AdminSubscriberDetail> {
  const view = await showSubscriberById(deps, id);
  if (view === null) throw notFound();
  return toSubscriberDetail(view);
}

interface ChangeRequest extends FastifyRequest {
  readonly params: { readonly id: string };
  readonly body: SubscriberChange;
}

/** @throws notFound (404) also for a subscriber without an address: nothing of it can be changed */
async function readChange(deps: ResendDependencies, request: ChangeRequest): Promise<ManualChange> {
  const email = await findSubscriberEmail(deps, request.params.id);
  if (email === null) throw notFound();
  return { email, actor: operatorOf(request).actor, reason: request.body.reason };
}

const listOperation = {
  operationId: 'listSubscribers',
  tags: TAGS,
  summary: 'List newsletter subscribers',
  querystring: AdminSubscriberQuery,
  response: { 200: ref(AdminSubscriberList, 'One page, the newest first.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportSubscribers',
  tags: TAGS,
  summary: 'Export newsletter subscribers as CSV',
  description: 'The audit log records each export.',
  querystring: AdminSubscriberRows,
  response: csvAnswer('All rows.'),
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showSubscriber',
  tags: TAGS,
  summary: 'Show a subscriber with outreach messages and changes',
  params: AdminSubscriberPath,
  response: { 200: ref(AdminSubscriberDetail, 'The subscriber.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const resendOperation = {
  operationId: 'resendConfirmation',
  tags: TAGS,
  summary: 'Send the confirmation e-mail again',
  description:
    'At most every five minutes and three times a day. A subscriber who needs no confirmation, or cannot confirm, is a `conflict`.',
  params: AdminSubscriberPath,
  body: ref(SubscriberChange),
  response: { 200: ref(Done, 'The e-mail is sent in a moment.') },
  problems: ['not_found', 'conflict', 'not_possible', 'rate_limited'],
} satisfies FastifySchema;

const unsubscribeOperation = {
  operationId: 'unsubscribeSubscriber',
  tags: TAGS,
  summary: 'Unsubscribe a subscriber',
  description: 'The subscriber can subscribe again. Another suppression remains.',
  params: AdminSubscriberPath,
  body: ref(SubscriberChange),
  response: { 200: ref(AdminSubscriberDetail, 'The subscriber now.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const eraseOperation = {
  operationId: 'eraseSubscriber',
  tags: TAGS,
  summary: 'Erase a subscriber',
  description:
    'Deletes the subscription and its outreach, and suppresses the address. Licenses keep their customer data.',
  params: AdminSubscriberPath,
  body: ref(SubscriberChange),
  response: { 200: ref(Done, 'The subscriber was erased.') },
  problems: ['not_found'],
} satisfies FastifySchema;
