import {
  CampaignDryRun,
  CampaignPreview,
  CampaignPreviewRequest,
  CampaignRecipients,
  CampaignStart,
  CampaignTestMail,
  CampaignTestResult,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { forbidden } from '#server/errors.ts';
import { csvAnswer, answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT, OWN_SLOTS } from '#server/http/database-slots.ts';
import {
  type OperatorAccess,
  SUPPORT_FRESH,
  VIEWER,
  operatorOf,
} from '#server/http/require-operator.ts';

import type { OutreachDependencies } from './dependencies.ts';
import { dryRun, DRY_RUN_COLUMNS, exportDryRun } from './campaigns/dry-run.ts';
import { PREVIEW_FRAME, PREVIEW_FRAME_HEADERS } from './campaigns/preview-frame.ts';
import type { Selection } from './campaigns/select-recipients.ts';
import { sendTestMail } from './campaigns/send-test-mail.ts';
import { previewCampaign, readCampaignStart } from './campaigns/view-campaign.ts';

const PATH = '/api/v1/admin/outreach';
const TAGS = ['admin: outreach'];

/** Three languages of the longest text. */
export const TEXTS_LIMIT_BYTES = 512 * 1024;

/** The longest list of recipients. */
export const LIST_LIMIT_BYTES = 8 * 1024 * 1024;

const TEST: { access: OperatorAccess } = {
  access: { role: 'admin', fresh: false, sessionOnly: true },
};

/** Registers the operations of writing a campaign, which change no campaign. */
export function registerComposeRoutes(app: App, deps: OutreachDependencies): void {
  app.get(`${PATH}/start`, { config: { ...VIEWER, ...NO_SLOT }, schema: startOperation }, () =>
    readCampaignStart(deps),
  );
  app.get(
    `${PATH}/preview-frame`,
    { config: { ...VIEWER, ...NO_SLOT }, schema: frameOperation },
    (_request, reply) => reply.headers(PREVIEW_FRAME_HEADERS).send(PREVIEW_FRAME),
  );
  app.post(
    `${PATH}/preview`,
    { config: { ...VIEWER, ...NO_SLOT }, schema: previewOperation, bodyLimit: TEXTS_LIMIT_BYTES },
    ({ body }) => previewCampaign(deps, body),
  );
  app.post(
    `${PATH}/dry-run`,
    { config: VIEWER, schema: dryRunOperation, bodyLimit: LIST_LIMIT_BYTES },
    ({ body }) => dryRun(deps, toSelection(body)),
  );
  app.post(
    `${PATH}/dry-run/export`,
    { config: SUPPORT_FRESH, schema: exportOperation, bodyLimit: LIST_LIMIT_BYTES },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const rows = await exportDryRun(deps, toSelection(request.body), actor);
      return answerCsv(reply, 'recipients', DRY_RUN_COLUMNS, rows);
    },
  );
  app.post(
    `${PATH}/test-mail`,
    { config: { ...TEST, ...OWN_SLOTS }, schema: testOperation, bodyLimit: TEXTS_LIMIT_BYTES },
    async (request) => {
      const { actor, email, name } = operatorOf(request);
      if (email === null) throw forbidden(null);
      await sendTestMail(deps, request.body, { email, name, actor });
      return { sent_to: email };
    },
  );
}

function toSelection(body: CampaignRecipients): Selection {
  const { audience, texts, default_language: defaultLanguage, list } = body;
  return { audience, texts, defaultLanguage, list: list ?? null };
}

const startOperation = {
  operationId: 'showCampaignStart',
  tags: TAGS,
  summary: 'Show the templates and placeholders of campaigns',
  response: { 200: ref(CampaignStart, 'What a new mail can start from.') },
} satisfies FastifySchema;

const frameOperation = {
  operationId: 'showPreviewFrame',
  tags: TAGS,
  summary: 'The document that shows a preview',
  description:
    'A sandboxed page for a frame of the console. It shows the HTML that its parent sends with `postMessage`.',
  response: {
    200: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
  },
} satisfies FastifySchema;

const previewOperation = {
  operationId: 'previewCampaign',
  tags: TAGS,
  summary: 'Render a text as it would be sent',
  body: ref(CampaignPreviewRequest),
  response: { 200: ref(CampaignPreview, 'The mail, and what prevents sending it.') },
} satisfies FastifySchema;

const dryRunOperation = {
  operationId: 'dryRunCampaign',
  tags: TAGS,
  summary: 'Show who would get a mail and who would not',
  body: ref(CampaignRecipients),
  response: { 200: ref(CampaignDryRun, 'Nothing was sent.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportDryRun',
  tags: TAGS,
  summary: 'Export who would get a mail and who would not as CSV',
  description: 'The audit log records each export.',
  body: ref(CampaignRecipients),
  response: csvAnswer('All rows.'),
} satisfies FastifySchema;

const testOperation = {
  operationId: 'sendTestMail',
  tags: TAGS,
  summary: 'Send a mail to yourself',
  description: 'The audit log records it.',
  body: ref(CampaignTestMail),
  response: { 200: ref(CampaignTestResult, 'The relay accepted the mail.') },
  problems: ['not_possible'],
} satisfies FastifySchema;
