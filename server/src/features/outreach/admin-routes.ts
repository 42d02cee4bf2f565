import {
  Campaign,
  CampaignCancel,
  CampaignCreate,
  CampaignList,
  CampaignPath,
  CampaignQuery,
  CampaignRowsQuery,
  CampaignSend,
  CampaignUpdate,
  Done,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import {
  answerCsv,
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import {
  ADMIN,
  ADMIN_FRESH,
  VIEWER,
  VIEWER_FRESH,
  operatorOf,
} from '#server/http/require-operator.ts';

import { LIST_LIMIT_BYTES, TEXTS_LIMIT_BYTES } from './admin-compose-routes.ts';
import {
  CAMPAIGN_COLUMNS,
  toCampaign,
  toCampaignSummary,
  toContent,
} from './campaigns/campaign-views.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign } from './campaigns/control-campaign.ts';
import type { OutreachDependencies } from './dependencies.ts';
import {
  createDraft,
  deleteDraft,
  duplicateCampaign,
  showCampaign,
  updateDraft,
} from './campaigns/edit-campaign.ts';
import { startCampaign } from './campaigns/start-campaign.ts';
import { exportCampaigns, readCampaignPage } from './campaigns/view-campaign.ts';

const PATH = '/api/v1/admin/outreach/campaigns';
const TAGS = ['admin: outreach'];

/** Registers the operations on outreach campaigns. */
export function registerCampaignRoutes(app: App, deps: OutreachDependencies): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, '-created_at'),
      (page) => readCampaignPage(deps, readFilter(query), page),
      toCampaignSummary,
    ),
  );
  app.get(
    `${PATH}/export`,
    { config: VIEWER_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { query } = request;
      const order = readOrder(query, '-created_at');
      const { actor } = operatorOf(request);
      const campaigns = await exportCampaigns(deps, readFilter(query), order, actor);
      return answerCsv(reply, 'campaigns', CAMPAIGN_COLUMNS, campaigns);
    },
  );
  app.get(`${PATH}/:id`, { config: VIEWER, schema: showOperation }, ({ params }) =>
    showCampaign(deps, params.id).then(toCampaign),
  );
  registerDrafts(app, deps);
  registerSending(app, deps);
}

function readFilter({ state, search = '' }: CampaignRowsQuery) {
  return { state: state ?? null, search: search.trim() === '' ? null : search.trim() };
}

function registerDrafts(app: App, deps: OutreachDependencies): void {
  app.post(
    PATH,
    { config: ADMIN, schema: createOperation, bodyLimit: TEXTS_LIMIT_BYTES },
    (request) =>
      createDraft(deps, toContent(request.body), operatorOf(request).actor).then(toCampaign),
  );
  app.post(
    `${PATH}/:id/update`,
    { config: ADMIN, schema: updateOperation, bodyLimit: TEXTS_LIMIT_BYTES },
    (request) => {
      const { body, params } = request;
      const expected = { version: body.expected_version, actor: operatorOf(request).actor };
      return updateDraft(deps, params.id, toContent(body), expected).then(toCampaign);
    },
  );
  app.post(`${PATH}/:id/duplicate`, { config: ADMIN, schema: duplicateOperation }, (request) =>
    duplicateCampaign(deps, request.params.id, operatorOf(request).actor).then(toCampaign),
  );
  app.post(`${PATH}/:id/delete`, { config: ADMIN, schema: deleteOperation }, (request) =>
    deleteDraft(deps, request.params.id, operatorOf(request).actor).then(() => DONE),
  );
}

function registerSending(app: App, deps: OutreachDependencies): void {
  app.post(
    `${PATH}/:id/send`,
    { config: ADMIN_FRESH, schema: sendOperation, bodyLimit: LIST_LIMIT_BYTES },
    (request) => {
      const { expected_version: version, max_recipients: maxRecipients, list } = request.body;
      const start = { version, maxRecipients, list: list ?? null };
      const { actor } = operatorOf(request);
      return startCampaign(deps, request.params.id, { ...start, actor }).then(toCampaign);
    },
  );
  app.post(`${PATH}/:id/pause`, { config: ADMIN, schema: pauseOperation }, (request) =>
    pauseCampaign(deps, request.params.id, {
      actor: operatorOf(request).actor,
      reason: null,
    }).then(toCampaign),
  );
  app.post(`${PATH}/:id/resume`, { config: ADMIN_FRESH, schema: resumeOperation }, (request) =>
    resumeCampaign(deps, request.params.id, {
      actor: operatorOf(request).actor,
      reason: null,
    }).then(toCampaign),
  );
  app.post(`${PATH}/:id/cancel`, { config: ADMIN, schema: cancelOperation }, (request) =>
    cancelCampaign(deps, request.params.id, {
      actor: operatorOf(request).actor,
      reason: request.body.reason,
    }).then(toCampaign),
  );
}

const OF_CHANGE = ['not_found', 'not_possible'] as const;

const exportOperation = {
  operationId: 'exportCampaigns',
  tags: TAGS,
  summary: 'Export outreach campaigns as CSV',
  description: 'Their numbers, without texts and recipients. The audit log records it.',
  querystring: CampaignRowsQuery,
  response: csvAnswer('One line for each campaign.'),
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listCampaigns',
  tags: TAGS,
  summary: 'List outreach campaigns',
  querystring: CampaignQuery,
  response: { 200: ref(CampaignList, 'One page, the newest first.') },
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showCampaign',
  tags: TAGS,
  summary: 'Show a campaign and its progress',
  params: CampaignPath,
  response: { 200: ref(Campaign, 'The campaign.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const createOperation = {
  operationId: 'createCampaign',
  tags: TAGS,
  summary: 'Create a draft',
  body: ref(CampaignCreate),
  response: { 200: ref(Campaign, 'The draft.') },
} satisfies FastifySchema;

const updateOperation = {
  operationId: 'updateCampaign',
  tags: TAGS,
  summary: 'Replace the content of a draft',
  params: CampaignPath,
  body: ref(CampaignUpdate),
  response: { 200: ref(Campaign, 'The draft now.') },
  problems: ['not_found', 'not_possible', 'conflict'],
} satisfies FastifySchema;

const duplicateOperation = {
  operationId: 'duplicateCampaign',
  tags: TAGS,
  summary: 'Copy a campaign to a new draft',
  params: CampaignPath,
  response: { 200: ref(Campaign, 'The new draft.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const deleteOperation = {
  operationId: 'deleteCampaign',
  tags: TAGS,
  summary: 'Delete a draft',
  params: CampaignPath,
  response: { 200: ref(Done, 'The draft was deleted.') },
  problems: OF_CHANGE,
} satisfies FastifySchema;

const sendOperation = {
  operationId: 'sendCampaign',
  tags: TAGS,
  summary: 'Send a draft',
  description:
    'Stores the recipients and answers; the service then sends, also after a restart, and nobody gets the mail twice. A `conflict` has the draft as `current`, and `recipients` if their number grew.',
  params: CampaignPath,
  body: ref(CampaignSend),
  response: { 200: ref(Campaign, 'The campaign is being sent.') },
  problems: ['not_found', 'not_possible', 'conflict'],
} satisfies FastifySchema;

const pauseOperation = {
  operationId: 'pauseCampaign',
  tags: TAGS,
  summary: 'Pause a campaign',
  description: 'The messages in progress are still sent.',
  params: CampaignPath,
  response: { 200: ref(Campaign, 'The campaign is paused.') },
  problems: OF_CHANGE,
} satisfies FastifySchema;

const resumeOperation = {
  operationId: 'resumeCampaign',
  tags: TAGS,
  summary: 'Resume a paused campaign',
  description: 'A campaign that waits for the relay is tried again at once.',
  params: CampaignPath,
  response: { 200: ref(Campaign, 'The campaign is being sent.') },
  problems: OF_CHANGE,
} satisfies FastifySchema;

const cancelOperation = {
  operationId: 'cancelCampaign',
  tags: TAGS,
  summary: 'Cancel a campaign',
  description: 'The messages that were not started are never sent.',
  params: CampaignPath,
  body: ref(CampaignCancel),
  response: { 200: ref(Campaign, 'The campaign ended.') },
  problems: OF_CHANGE,
} satisfies FastifySchema;
