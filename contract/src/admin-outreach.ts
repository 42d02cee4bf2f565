import { type Static, Type } from 'typebox';

import { expectedVersion, listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
import { forEachLanguage, LANGUAGES } from './constants.ts';
import { dateTime, integer, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** `paused` also by the service, when the relay fails for an hour. */
export const CAMPAIGN_STATES = ['draft', 'sending', 'paused', 'sent', 'canceled'] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

export const LICENSE_STATUSES = [
  'active',
  'past_due',
  'expired',
  'canceled',
  'paused',
  'suspended',
  'refunded',
  'revoked',
] as const;

/** In characters. */
const MAX_SUBJECT_LENGTH = 200;
const MAX_CAMPAIGN_TEXT_LENGTH = 20_000;
export const MAX_CAMPAIGN_NAME_LENGTH = 200;

/** Enough for 50,000 addresses with names. */
const MAX_LIST_LENGTH = 4_000_000;

const language = oneOf(LANGUAGES, { examples: ['en'] });
const count = (description: string) => Type.Integer({ description, examples: [120] });

/** A mail in one language; `PLACEHOLDERS` of the operator interface describes what the texts may contain. */
export const CampaignText = Type.Object(
  {
    subject: text({ maxLength: MAX_SUBJECT_LENGTH, examples: ['{{product}} 2.0 is here'] }),
    preview: text({
      description: 'Shown by an inbox beside the subject.',
      maxLength: MAX_SUBJECT_LENGTH,
      examples: ['Your license goes on as it is.'],
    }),
    text: text({
      description:
        'Paragraphs between empty lines. `# Heading`, `- item` and `1. step` begin a line; `[text](https://…)` on a line of its own is a link, `[[text]](https://…)` a button. `{{product}}`, `{{version}}`, `{{sender}}`, `{{name|friend}}` and the links `{{download_url}}`, `{{sellers_url}}`, `{{tutorials_url}}` and `{{news_url}}` are replaced. The greeting, the signature and the unsubscribe link are added.',
      maxLength: MAX_CAMPAIGN_TEXT_LENGTH,
      examples: ['Version {{version}} is ready.\n\n[[Get it]]({{download_url}})'],
    }),
  },
  { $id: 'CampaignText' },
);
export type CampaignText = Static<typeof CampaignText>;

/** A mail in one or several languages. */
export const CampaignTexts = Type.Object(
  forEachLanguage(() => Type.Optional(ref(CampaignText))),
  { $id: 'CampaignTexts' },
);
export type CampaignTexts = Static<typeof CampaignTexts>;

export const AUDIENCE_SOURCES = ['subscribers', 'customers', 'list'] as const;

export const CampaignAudience = Type.Object(
  {
    source: oneOf(AUDIENCE_SOURCES, {
      description:
        '`subscribers`: confirmed newsletter subscribers; `customers`: the addresses of licenses; `list`: addresses that come with the request.',
      examples: ['subscribers'],
    }),
    languages: Type.Array(language, {
      description: 'Only subscribers of these languages; empty: all.',
      maxItems: LANGUAGES.length,
    }),
    products: Type.Array(text({ maxLength: 200, examples: ['personal'] }), {
      description: 'Only people with a license of these products; empty: all.',
      maxItems: 100,
    }),
    statuses: Type.Array(oneOf(LICENSE_STATUSES, { examples: ['active'] }), {
      description: 'Only customers with a license of these statuses; empty: all.',
      maxItems: LICENSE_STATUSES.length,
    }),
  },
  { $id: 'CampaignAudience' },
);
export type CampaignAudience = Static<typeof CampaignAudience>;

/** How many messages have which outcome. */
export const CampaignCounts = Type.Object(
  {
    total: count('All recipients, without duplicates and invalid addresses.'),
    waiting: count('Not sent yet.'),
    canceled: count('Not sent, because the campaign was canceled.'),
    sent: count('The relay accepted the message.'),
    failed: count('The relay rejected the message, or could not be reached.'),
    suppressed: count('Not sent, because the address is suppressed.'),
    unknown: count('The message may have been sent: the relay did not confirm it.'),
    duplicates: count('Addresses that occurred more than once.'),
    invalid: count('Texts that are no address.'),
  },
  { $id: 'CampaignCounts' },
);
export type CampaignCounts = Static<typeof CampaignCounts>;

const summary = {
  id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
  name: Type.String({ description: 'Only for operators.', examples: ['Version 2.0'] }),
  state: oneOf(CAMPAIGN_STATES, { examples: ['sending'] }),
  languages: Type.Array(language),
  source: oneOf(AUDIENCE_SOURCES, { examples: ['subscribers'] }),
  counts: ref(CampaignCounts),
  created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  updated_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  updated_by: Type.String({ examples: ['operator:anna@example.com'] }),
  started_at: nullable(dateTime({ examples: ['2026-11-20T10:00:00.000Z'] })),
  started_by: nullableString({ examples: ['operator:anna@example.com'] }),
  ended_at: nullable(dateTime({ examples: ['2026-11-20T10:20:00.000Z'] })),
};

export const CampaignSummary = Type.Object(summary, { $id: 'CampaignSummary' });
export type CampaignSummary = Static<typeof CampaignSummary>;

export const CampaignList = listOf(CampaignSummary, 'CampaignList');
export type CampaignList = Static<typeof CampaignList>;

const CAMPAIGN_FILTERS = {
  state: Type.Optional(oneOf(CAMPAIGN_STATES)),
  search: Type.Optional(text({ description: 'The start of a word of the name.', maxLength: 320 })),
};

export const CampaignQuery = listQuery(['-created_at'], CAMPAIGN_FILTERS);
export type CampaignQuery = Static<typeof CampaignQuery>;

export const CampaignRowsQuery = rowsQuery(['-created_at'], CAMPAIGN_FILTERS);
export type CampaignRowsQuery = Static<typeof CampaignRowsQuery>;

export const CampaignPath = Type.Object({ id: uuid() });

export const Campaign = Type.Object(
  {
    ...summary,
    version: Type.Integer({ examples: [3] }),
    texts: ref(CampaignTexts),
    default_language: oneOf(LANGUAGES, {
      description: 'Of recipients without a language, or with one that the texts lack.',
      examples: ['en'],
    }),
    audience: ref(CampaignAudience),
    problem: nullableString({
      description:
        'Why sending does not go on: an error of the relay, such as `connection` or `login`.',
      examples: ['connection'],
    }),
    problem_since: nullable(dateTime({ examples: ['2026-11-20T10:05:00.000Z'] })),
    next_attempt_at: nullable(
      dateTime({
        description: 'When the service tries again; null: now.',
        examples: ['2026-11-20T10:06:00.000Z'],
      }),
    ),
  },
  { $id: 'Campaign' },
);
export type Campaign = Static<typeof Campaign>;

const content = {
  name: text({ minLength: 1, maxLength: MAX_CAMPAIGN_NAME_LENGTH, examples: ['Version 2.0'] }),
  texts: ref(CampaignTexts),
  default_language: language,
  audience: ref(CampaignAudience),
};

export const CampaignCreate = Type.Object(content, { $id: 'CampaignCreate' });
export type CampaignCreate = Static<typeof CampaignCreate>;

export const CampaignUpdate = Type.Object(
  { ...content, expected_version: expectedVersion },
  { $id: 'CampaignUpdate' },
);
export type CampaignUpdate = Static<typeof CampaignUpdate>;

/** Addresses that come with a request. */
export const recipientList = Type.Optional(
  text({
    description:
      'The addresses of the source `list`, one on each line: `ada@example.com`, `Ada <ada@example.com>`, or address, name and language separated by commas, semicolons or tabs.',
    maxLength: MAX_LIST_LENGTH,
    examples: ['ada@example.com, Ada, en'],
  }),
);

export const CampaignSend = Type.Object(
  {
    expected_version: expectedVersion,
    max_recipients: integer({
      description:
        'The number of recipients that the operator saw. When more would get the mail, the answer is 409 `recipients_changed`.',
      minimum: 0,
      maximum: 2_147_483_647,
      examples: [120],
    }),
    list: recipientList,
  },
  { $id: 'CampaignSend' },
);
export type CampaignSend = Static<typeof CampaignSend>;

export const CampaignCancel = Type.Object({ reason }, { $id: 'CampaignCancel' });
export type CampaignCancel = Static<typeof CampaignCancel>;

export const CampaignReport = Type.Object(
  {
    unsubscribed: count('Who got the mail and was suppressed later.'),
    by_language: Type.Array(Type.Object({ language, sent: Type.Integer({ examples: [100] }) })),
    reasons: Type.Array(
      Type.Object({
        state: oneOf(['failed', 'unknown'], { examples: ['failed'] }),
        error: Type.String({ examples: ['smtp_550'] }),
        count: Type.Integer({ examples: [2] }),
      }),
      { description: 'Why messages were not sent, the most frequent first.' },
    ),
    kept_until: nullable(
      dateTime({
        description: 'Until when recipients are listed; null for a draft.',
        examples: ['2026-12-20T10:00:00.000Z'],
      }),
    ),
  },
  { $id: 'CampaignReport' },
);
export type CampaignReport = Static<typeof CampaignReport>;

const MESSAGE_RESULTS = [
  'waiting',
  'sending',
  'sent',
  'failed',
  'suppressed',
  'canceled',
  'unknown',
  'unsubscribed',
] as const;

export const CampaignMessage = Type.Object(
  {
    position: Type.Integer({ examples: [0] }),
    email: nullableString({
      description: 'Null when it was erased.',
      examples: ['ada@example.com'],
    }),
    name: nullableString({ examples: ['Ada'] }),
    language,
    result: oneOf(MESSAGE_RESULTS, {
      description: '`unsubscribed`: sent, and suppressed later.',
      examples: ['sent'],
    }),
    error: nullableString({ examples: ['smtp_550: mailbox unavailable'] }),
    ended_at: nullable(dateTime({ examples: ['2026-11-20T10:00:07.000Z'] })),
    message_id: Type.String({ examples: ['<outreach-0190a6b2@example.com>'] }),
  },
  { $id: 'CampaignMessage' },
);
export type CampaignMessage = Static<typeof CampaignMessage>;

export const CampaignMessageList = listOf(CampaignMessage, 'CampaignMessageList');
export type CampaignMessageList = Static<typeof CampaignMessageList>;

const messageFilters = { result: Type.Optional(oneOf(MESSAGE_RESULTS)) };
const MESSAGE_SEARCH = 'A complete address.';

export const CampaignMessageQuery = listQuery(['position'], messageFilters, MESSAGE_SEARCH);
export type CampaignMessageQuery = Static<typeof CampaignMessageQuery>;

export const CampaignMessageRows = rowsQuery(['position'], messageFilters, MESSAGE_SEARCH);
export type CampaignMessageRows = Static<typeof CampaignMessageRows>;

/** The named schemas of campaigns. */
export const outreachSchemas = [
  Campaign,
  CampaignAudience,
  CampaignCancel,
  CampaignCounts,
  CampaignCreate,
  CampaignList,
  CampaignMessage,
  CampaignMessageList,
  CampaignReport,
  CampaignSend,
  CampaignSummary,
  CampaignText,
  CampaignTexts,
  CampaignUpdate,
] as const;
