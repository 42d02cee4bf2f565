import { type Static, Type } from 'typebox';
import { LANGUAGES } from './constants.ts';

import { listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
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

const FILTERS = {
  search: Type.Optional(
    text({
      description: 'An e-mail address, or the id of a transaction.',
      maxLength: 320,
      examples: ['ada@example.com'],
    }),
  ),
  kind: Type.Optional(oneOf(MAIL_KINDS)),
  state: Type.Optional(oneOf(MAIL_STATES)),
};

export const MailQuery = listQuery(['-created_at'], FILTERS);
export type MailQuery = Static<typeof MailQuery>;

export const MailRowsQuery = rowsQuery(['-created_at'], FILTERS);
export type MailRowsQuery = Static<typeof MailRowsQuery>;

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

export const Mails = listOf(MailItem, 'Mails');

/** The path of an operation on one mail. */
export const MailPath = Type.Object({ id: text({ maxLength: MAX_ID_LENGTH }) });

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

export const MailResend = Type.Object({ reason }, { $id: 'MailResend' });

export const MailResendAll = Type.Object(
  {
    which: oneOf(['refused', 'unconfirmed'], {
      description:
        'Every e-mail with keys that the mail relay refused permanently, or whose acceptance it did not confirm.',
      examples: ['refused'],
    }),
    reason,
  },
  { $id: 'MailResendAll' },
);

export const MailsQueued = Type.Object(
  { queued: Type.Integer({ examples: [1] }) },
  { $id: 'MailsQueued' },
);

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

export const MailTemplates = Type.Object(
  { items: Type.Array(ref(MailTemplateItem)) },
  { $id: 'MailTemplates' },
);

/** The path of an operation on one template. */
export const MailTemplatePath = Type.Object({ name: text({ maxLength: 100, examples: ['key'] }) });

export const MailTemplateQuery = Type.Object(
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

export const MailPreview = Type.Object(
  {
    name: Type.String({ examples: ['key'] }),
    language: Type.String({ examples: ['en'] }),
    subject: Type.String({ examples: ['Your license key for Personal'] }),
    text: Type.String({ description: 'The plain-text part.' }),
  },
  { $id: 'MailPreview' },
);

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

/** The named schemas of mails, for the interface document. */
export const mailSchemas = [
  MailItem,
  Mails,
  MailLicense,
  Mail,
  MailResend,
  MailResendAll,
  MailsQueued,
  MailTemplateItem,
  MailTemplates,
  MailPreview,
  MailRelayCheck,
];
