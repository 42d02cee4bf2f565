import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { LANGUAGES } from './constants.ts';
import { listResource } from './list-resource.ts';
import { htmlFile, operation } from './operation.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/**
 * The mails that are stored: `key`: with the keys of a purchase; `owner`: another one to the owner of a license, such as a code
 * for the page for buyers. What an operator previews has more templates.
 */
const MAIL_KINDS = ['key', 'owner', 'confirmation', 'outreach'] as const;

/**
 * `held`: it waits for an address, a mail relay or a valid license; `unconfirmed`: the relay received it without confirming
 * it, so that it may have been delivered.
 */
const MAIL_STATES = ['queued', 'held', 'sending', 'sent', 'unconfirmed', 'failed'] as const;

const MAX_ID_LENGTH = 500;

const item = {
  id: Type.String({ examples: ['key:paddle:txn_01hv8wptq8987qeep44cyrewp9'] }),
  kind: oneOf(MAIL_KINDS, {
    description:
      '`key`: with the keys of a purchase; `owner`: another one to the owner of a license, or the payer of a gift, by `template`: `buyer_code`, `machine_freed`, `replaced_key`, `key` or `gift_sent`.',
    examples: ['key'],
  }),
  state: oneOf(MAIL_STATES, {
    description:
      '`held`: it waits for an address, a mail relay or a valid license; `unconfirmed`: the relay received it without confirming it.',
    examples: ['sent'],
  }),
  reason: nullableString({
    description: 'The code of why it waits or was not sent.',
    examples: ['smtp_550'],
  }),
  recipient: nullableString({
    description:
      'Null while the address is unknown, and for outreach of the interface, which stores none.',
    examples: ['ada@example.com'],
  }),
  template: Type.String({ examples: ['key'] }),
  language: nullableString({ description: 'Null: not known before it is sent.' }),
  created_at: dateTime({
    description: 'When it was requested last.',
    examples: ['2026-11-20T10:00:00.000Z'],
  }),
  sent_at: nullable(dateTime({ examples: ['2026-11-20T10:00:02.000Z'] })),
};

const MailItem = Type.Object(item, { $id: 'MailItem' });
export type MailItem = Static<typeof MailItem>;

export const mails = listResource({
  id: 'Mails',
  name: 'mail',
  title: 'mails',
  description:
    'E-mails with keys and confirmations of subscriptions; of the last 30 days outreach, and e-mails to owners of licenses: codes for ' +
    'the page for buyers, freed machines, and keys that were replaced or sent again. No mail shows a key or a code.',
  path: 'mails',
  item: MailItem,
  sorts: ['-created_at'],
  search: 'An e-mail address, or the id of a transaction.',
  filters: {
    kind: Type.Optional(oneOf(MAIL_KINDS)),
    state: Type.Optional(oneOf(MAIL_STATES)),
  },
  permissions: { read: 'mails:read', export: 'mails:export' },
});

const mailParams = Type.Object({ id: text({ maxLength: MAX_ID_LENGTH }) });

const MailLicense = Type.Object(
  {
    license_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    product: Type.String({ examples: ['personal'] }),
    key_hint: Type.String({ examples: ['8KQ2'] }),
    sent: Type.Boolean({ description: 'Whether its key was sent.' }),
  },
  { $id: 'MailLicense' },
);

export const Mail = Type.Object(
  {
    ...item,
    summary: Type.String({
      description: 'What happened to it, in one sentence.',
      examples: ['The mail relay refused it permanently (smtp_550).'],
    }),
    advice: nullableString({ description: 'What an operator can do; null if nothing is needed.' }),
    can_resend: Type.Boolean({ description: 'Whether it can be sent again.' }),
    message_id: nullableString({ description: 'The Message-ID that the relay accepted.' }),
    licenses: Type.Array(ref(MailLicense), {
      description: 'The licenses of the purchase, for an e-mail with keys; at most 100.',
    }),
  },
  { $id: 'Mail' },
);
export type Mail = Static<typeof Mail>;

export const showMail = operation({
  id: 'showMail',
  method: 'GET',
  path: 'mails/:id',
  summary: 'Show a mail',
  permission: 'mails:read',
  params: mailParams,
  response: ref(Mail, 'The mail, and what happened to it.'),
  errors: ['not_found'],
});

const MailResend = Type.Object({ reason }, { $id: 'MailResend', additionalProperties: false });

const MailsQueued = Type.Object(
  { queued: Type.Integer({ examples: [1] }) },
  { $id: 'MailsQueued' },
);

export const resendMail = operation({
  id: 'resendMail',
  method: 'POST',
  path: 'mails/:id/resend',
  summary: 'Send a mail again',
  description: 'Queues an e-mail with keys, in any state, or the confirmation of a subscription.',
  permission: 'mails:resend',
  params: mailParams,
  body: ref(MailResend),
  response: ref(MailsQueued, 'The mail is queued.'),
  errors: ['not_found', 'not_possible', 'rate_limited'],
});

const MailResendAll = Type.Object(
  {
    which: oneOf(['refused', 'unconfirmed'], {
      description:
        'Every e-mail with keys that the mail relay refused permanently, or whose acceptance it did not confirm.',
      examples: ['refused'],
    }),
    reason,
  },
  { $id: 'MailResendAll', additionalProperties: false },
);

export const resendKeyMails = operation({
  id: 'resendKeyMails',
  method: 'POST',
  path: 'mails/resend',
  summary: 'Send every refused or unconfirmed e-mail with keys again',
  permission: 'mails:resend-all',
  body: ref(MailResendAll),
  response: ref(MailsQueued, 'How many e-mails are queued.'),
});

const MailTemplateItem = Type.Object(
  {
    name: Type.String({ examples: ['key'] }),
    title: Type.String({ examples: ['License keys after a purchase'] }),
    languages: Type.Array(Type.String({ examples: ['de'] })),
    has_name: Type.Boolean({ description: 'Whether it addresses the recipient by name.' }),
  },
  { $id: 'MailTemplateItem' },
);
export type MailTemplateItem = Static<typeof MailTemplateItem>;

const MailTemplates = Type.Object(
  { items: Type.Array(ref(MailTemplateItem)) },
  { $id: 'MailTemplates' },
);

export const listMailTemplates = operation({
  id: 'listMailTemplates',
  method: 'GET',
  path: 'mail-templates',
  summary: 'List every mail that the service can send',
  permission: 'mails:read',
  response: ref(MailTemplates, 'The templates.'),
});

const templateParams = Type.Object({ name: text({ maxLength: 100, examples: ['key'] }) });

const templateQuery = Type.Object(
  {
    language: Type.Optional(oneOf(LANGUAGES)),
    name: Type.Optional(
      text({
        description:
          'The name of the recipient, may be empty; ignored by a mail without `has_name`. Default: an example.',
        maxLength: 200,
        examples: ['Ada'],
      }),
    ),
  },
  { additionalProperties: false },
);

const MailPreview = Type.Object(
  {
    name: Type.String({ examples: ['key'] }),
    language: Type.String({ examples: ['en'] }),
    subject: Type.String({ examples: ['Your license key for Personal'] }),
    text: Type.String({ description: 'The plain-text part.' }),
  },
  { $id: 'MailPreview' },
);

export const previewMail = operation({
  id: 'previewMail',
  method: 'GET',
  path: 'mail-templates/:name',
  summary: 'Preview a mail with example data',
  permission: 'mails:read',
  params: templateParams,
  query: templateQuery,
  response: ref(MailPreview, 'The subject and the plain-text part.'),
  errors: ['not_found'],
});

export const previewMailHtml = operation({
  id: 'previewMailHtml',
  method: 'GET',
  path: 'mail-templates/:name/html',
  summary: 'Preview the HTML part of a mail with example data',
  permission: 'mails:read',
  params: templateParams,
  query: templateQuery,
  response: htmlFile('A document for a frame: its policy allows no script.'),
  errors: ['not_found'],
});

export const MailRelayCheck = Type.Object(
  {
    usable: Type.Boolean({ description: 'Whether the relay accepts the login.' }),
    summary: Type.String({ examples: ['The relay accepts the login.'] }),
    advice: nullableString({ description: 'What to correct; null if nothing is needed.' }),
    from: nullableString({
      description: 'The sender.',
      examples: ['Example Studio <hello@example.com>'],
    }),
  },
  { $id: 'MailRelayCheck' },
);
export type MailRelayCheck = Static<typeof MailRelayCheck>;

export const checkMailRelay = operation({
  id: 'checkMailRelay',
  method: 'POST',
  path: 'mail-relay/check',
  summary: 'Check the mail relay',
  description: 'Connects and logs in, without sending anything.',
  permission: 'mails:check-relay',
  response: ref(MailRelayCheck, 'Whether the relay can be used.'),
});
