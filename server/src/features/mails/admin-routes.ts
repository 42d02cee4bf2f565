/** Mails for operators: the log of all kinds, sending again, previews, and the check of the mail relay. */
import {
  checkMailRelay,
  listMailTemplates,
  mails,
  previewMail,
  previewMailHtml,
  resendKeyMails,
  resendMail,
  showMail,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { resendKeyEmails } from '../key-emails/requeue-emails.ts';
import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import type { ResendDependencies } from '../subscribers/resend-confirmation.ts';
import * as relay from './check-mail-relay.ts';
import * as log from './list-mails.ts';
import { listTemplates, requireTemplate } from './list-templates.ts';
import { renderExample, type ExampleSettings } from './render-example.ts';
import * as again from './resend-mail.ts';

/** A preview is shown in a frame of the console: styles of its own, no script, no other host, and no form. */
const PREVIEW_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
} as const;

export function registerMailRoutes(
  app: App,
  deps: ListDependencies & ResendDependencies & ExampleSettings,
): void {
  serveList(app, deps, mails, log.mailSource(deps));
  serveOperation(app, showMail, ({ params }) => log.showMail(deps, params.id));
  serveOperation(app, resendMail, async ({ params, body, operator }) => {
    const change = { actor: operator.actor, reason: body.reason };
    return { queued: await again.resendMail(deps, params.id, change) };
  });
  serveOperation(app, resendKeyMails, async ({ body, operator }) => {
    const { which, reason } = body;
    return { queued: await resendKeyEmails(deps, { which, actor: operator.actor, reason }) };
  });
  serveOperation(app, checkMailRelay, () => relay.checkMailRelay(deps), NO_SLOT);
  registerTemplates(app, deps);
}

function registerTemplates(app: App, deps: ExampleSettings): void {
  serveOperation(app, listMailTemplates, () => ({ items: listTemplates() }), NO_SLOT);
  serveOperation(
    app,
    previewMail,
    ({ params, query: { language = 'en', name: recipient } }) => {
      const name = requireTemplate(params.name);
      const { subject, text } = renderExample(deps, name, language, recipient);
      return { name, language, subject, text };
    },
    NO_SLOT,
  );
  serveOperation(
    app,
    previewMailHtml,
    ({ params, query: { language = 'en', name: recipient } }, reply) => {
      const template = requireTemplate(params.name);
      void reply.headers(PREVIEW_HEADERS);
      return renderExample(deps, template, language, recipient).html;
    },
    NO_SLOT,
  );
}
