/** Mails for operators: the log of all kinds, sending again, previews, and the check of the mail relay. */
import {
  Mail,
  MailPath,
  MailPreview,
  MailQuery,
  MailRelayCheck,
  MailResend,
  MailResendAll,
  MailRowsQuery,
  Mails,
  MailsQueued,
  MailTemplatePath,
  MailTemplateQuery,
  MailTemplates,
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
import { NO_SLOT } from '#server/http/database-slots.ts';
import {
  ADMIN,
  operatorOf,
  SUPPORT,
  SUPPORT_FRESH,
  VIEWER,
} from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { resendKeyEmails } from '../key-emails/requeue-emails.ts';
import type { ResendDependencies } from '../subscribers/resend-confirmation.ts';
import { checkMailRelay } from './check-mail-relay.ts';
import {
  exportMails,
  listMails,
  showMail,
  viewMail,
  type MailListDependencies,
} from './list-mails.ts';
import { listTemplates, requireTemplate } from './list-templates.ts';
import { renderExample, type ExampleSettings } from './render-example.ts';
import { resendMail } from './resend-mail.ts';

const MAILS = '/api/v1/admin/mails';
const TEMPLATES = '/api/v1/admin/mail-templates';
const RELAY = '/api/v1/admin/mail-relay';
const TAGS = ['admin: mails'];
const DEFAULT_SORT = '-created_at';

/** A preview is shown in a frame of the console: styles of its own, no script, no other host, and no form. */
const PREVIEW_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
} as const;

type MailRouteDependencies = MailListDependencies & ResendDependencies & ExampleSettings;

type Row = Parameters<typeof viewMail>[0];

const COLUMNS: CsvColumns<Row> = {
  id: (mail) => mail.id,
  kind: (mail) => mail.kind,
  state: (mail) => mail.state,
  reason: (mail) => mail.reason,
  recipient: (mail) => mail.recipient,
  template: (mail) => mail.template,
  language: (mail) => mail.language,
  created_at: (mail) => mail.createdAt,
  sent_at: (mail) => mail.sentAt,
};

export function registerMailRoutes(app: App, deps: MailRouteDependencies): void {
  app.get(MAILS, { config: VIEWER, schema: listOperation }, (request) =>
    answerPage(
      readPageRequest(request.query, DEFAULT_SORT),
      (page) => listMails(deps, page, request.query),
      viewMail,
    ),
  );
  app.get(
    `${MAILS}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const order = readOrder(request.query, DEFAULT_SORT);
      const mails = await exportMails(deps, order, request.query, actor);
      return answerCsv(reply, 'mails', COLUMNS, mails);
    },
  );
  app.get(`${MAILS}/:id`, { config: VIEWER, schema: showOperation }, (request) =>
    showMail(deps, request.params.id),
  );
  app.post(`${MAILS}/:id/resend`, { config: SUPPORT, schema: resendOperation }, async (request) => {
    const change = { actor: operatorOf(request).actor, reason: request.body.reason };
    return { queued: await resendMail(deps, request.params.id, change) };
  });
  app.post(`${MAILS}/resend`, { config: ADMIN, schema: resendAllOperation }, async (request) => {
    const { which, reason } = request.body;
    const { actor } = operatorOf(request);
    return { queued: await resendKeyEmails(deps, { which, actor, reason }) };
  });
  app.post(`${RELAY}/check`, { config: { ...SUPPORT, ...NO_SLOT }, schema: checkOperation }, () =>
    checkMailRelay(deps),
  );
  registerTemplates(app, deps);
}

function registerTemplates(app: App, deps: ExampleSettings): void {
  app.get(
    TEMPLATES,
    { config: { ...VIEWER, ...NO_SLOT }, schema: listTemplatesOperation },
    async () => ({
      items: listTemplates(),
    }),
  );
  app.get(
    `${TEMPLATES}/:name`,
    { config: { ...VIEWER, ...NO_SLOT }, schema: previewOperation },
    async (request) => {
      const { language = 'en', name: recipient } = request.query;
      const name = requireTemplate(request.params.name);
      const { subject, text } = renderExample(deps, name, language, recipient);
      return { name, language, subject, text };
    },
  );
  app.get(
    `${TEMPLATES}/:name/html`,
    { config: { ...VIEWER, ...NO_SLOT }, schema: previewHtmlOperation },
    async (request, reply) => {
      const { language = 'en', name: recipient } = request.query;
      const template = requireTemplate(request.params.name);
      const { html } = renderExample(deps, template, language, recipient);
      return reply.headers(PREVIEW_HEADERS).send(html);
    },
  );
}

const listOperation = {
  operationId: 'listMails',
  tags: TAGS,
  summary: 'List the mails of all kinds',
  description:
    'E-mails with keys and confirmations of subscriptions; of the last 30 days outreach, and e-mails to owners of licenses: codes for ' +
    'the page for buyers, freed machines, and keys that were replaced or sent again. No mail shows a key or a code.',
  querystring: MailQuery,
  response: { 200: ref(Mails, 'A page of the mails, the newest first.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportMails',
  tags: TAGS,
  summary: 'Export the mails of all kinds as CSV',
  description: 'The audit log records each export.',
  querystring: MailRowsQuery,
  response: csvAnswer('All mails of the filter.'),
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showMail',
  tags: TAGS,
  summary: 'Show a mail',
  params: MailPath,
  response: { 200: ref(Mail, 'The mail, and what happened to it.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const resendOperation = {
  operationId: 'resendMail',
  tags: TAGS,
  summary: 'Send a mail again',
  description: 'Queues an e-mail with keys, in any state, or the confirmation of a subscription.',
  params: MailPath,
  body: ref(MailResend),
  response: { 200: ref(MailsQueued, 'The mail is queued.') },
  problems: ['not_found', 'not_possible', 'rate_limited'],
} satisfies FastifySchema;

const resendAllOperation = {
  operationId: 'resendKeyMails',
  tags: TAGS,
  summary: 'Send every refused or unconfirmed e-mail with keys again',
  body: ref(MailResendAll),
  response: { 200: ref(MailsQueued, 'How many e-mails are queued.') },
} satisfies FastifySchema;

const checkOperation = {
  operationId: 'checkMailRelay',
  tags: TAGS,
  summary: 'Check the mail relay',
  description: 'Connects and logs in, without sending anything.',
  response: { 200: ref(MailRelayCheck, 'Whether the relay can be used.') },
} satisfies FastifySchema;

const listTemplatesOperation = {
  operationId: 'listMailTemplates',
  tags: TAGS,
  summary: 'List every mail that the service can send',
  response: { 200: ref(MailTemplates, 'The templates.') },
} satisfies FastifySchema;

const previewOperation = {
  operationId: 'previewMail',
  tags: TAGS,
  summary: 'Preview a mail with example data',
  params: MailTemplatePath,
  querystring: MailTemplateQuery,
  response: { 200: ref(MailPreview, 'The subject and the plain-text part.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const previewHtmlOperation = {
  operationId: 'previewMailHtml',
  tags: TAGS,
  summary: 'Preview the HTML part of a mail with example data',
  params: MailTemplatePath,
  querystring: MailTemplateQuery,
  response: {
    200: {
      description: 'A document for a frame: its policy allows no script.',
      content: { 'text/html': { schema: { type: 'string' } } },
    },
  },
  problems: ['not_found'],
} satisfies FastifySchema;
