import {
  CampaignMessageList,
  CampaignMessageQuery,
  CampaignMessageRows,
  CampaignPath,
  CampaignReport,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';

import { MESSAGE_COLUMNS, toCampaignMessage } from './campaigns/campaign-views.ts';
import type { OutreachDependencies } from './dependencies.ts';
import {
  exportMessages,
  readMessagePage,
  reportCampaign,
  type MessageQuery,
} from './campaigns/view-campaign.ts';

const PATH = '/api/v1/admin/outreach/campaigns/:id';
const TAGS = ['admin: outreach'];

/** Also the first of the sorts in the contract. */
const FIRST = 'position';

/** Registers the operations on the outcomes of campaigns. */
export function registerReportRoutes(app: App, deps: OutreachDependencies): void {
  app.get(`${PATH}/report`, { config: VIEWER, schema: reportOperation }, ({ params }) =>
    reportCampaign(deps, params.id),
  );
  app.get(`${PATH}/messages`, { config: VIEWER, schema: listOperation }, ({ params, query }) =>
    answerPage(
      readPageRequest(query, FIRST),
      (page) => readMessagePage(deps, toQuery(params.id, query), page),
      toCampaignMessage,
    ),
  );
  app.get(
    `${PATH}/messages/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const query = toQuery(request.params.id, request.query);
      const { actor } = operatorOf(request);
      const rows = await exportMessages(deps, query, readOrder(request.query, FIRST), actor);
      return answerCsv(reply, 'messages', MESSAGE_COLUMNS, rows);
    },
  );
}

function toQuery(campaignId: string, { result, search }: CampaignMessageRows): MessageQuery {
  const text = typeof search === 'string' ? search : null;
  return { campaignId, result: result ?? null, search: text };
}

const reportOperation = {
  operationId: 'reportCampaign',
  tags: TAGS,
  summary: 'Show the outcomes of a campaign',
  params: CampaignPath,
  response: { 200: ref(CampaignReport, 'The report.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const listOperation = {
  operationId: 'listCampaignMessages',
  tags: TAGS,
  summary: 'List the messages of a campaign',
  params: CampaignPath,
  querystring: CampaignMessageQuery,
  response: { 200: ref(CampaignMessageList, 'One page, in the order in which they are sent.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportCampaignMessages',
  tags: TAGS,
  summary: 'Export the messages of a campaign as CSV',
  description: 'The audit log records each export.',
  params: CampaignPath,
  querystring: CampaignMessageRows,
  response: csvAnswer('All rows.'),
  problems: ['not_found'],
} satisfies FastifySchema;
