import { type Static, Type } from 'typebox';

import { forEachLanguage, LANGUAGES } from './constants.ts';
import { csvFile, htmlFile, operation } from './operation.ts';
import {
  AUDIENCE_SOURCES,
  CampaignAudience,
  CampaignText,
  CampaignTexts,
  MAX_CAMPAIGN_NAME_LENGTH,
  MAX_LIST_BYTES,
  MAX_TEXTS_BYTES,
  recipientList,
} from './outreach-content.ts';
import { OUTREACH_TEMPLATES } from './outreach.ts';
import { integer, nullable, nullableString, oneOf, ref, text } from './schema.ts';

const language = oneOf(LANGUAGES, { examples: ['en'] });
const count = (description: string) => Type.Integer({ description, examples: [120] });

export const CampaignRecipients = Type.Object(
  {
    audience: ref(CampaignAudience),
    default_language: language,
    texts: ref(CampaignTexts),
    list: recipientList,
  },
  { $id: 'CampaignRecipients', additionalProperties: false },
);
export type CampaignRecipients = Static<typeof CampaignRecipients>;

const EXCLUSIONS = ['suppressed', 'duplicate', 'invalid'] as const;

export const CampaignRecipient = Type.Object(
  {
    email: Type.String({ examples: ['ada@example.com'] }),
    name: nullableString({ examples: ['Ada'] }),
    language,
    excluded: nullable(
      oneOf(EXCLUSIONS, {
        description: 'Why the recipient gets no mail; null: it does.',
        examples: ['suppressed'],
      }),
    ),
  },
  { $id: 'CampaignRecipient' },
);
export type CampaignRecipient = Static<typeof CampaignRecipient>;

export const CampaignDryRun = Type.Object(
  {
    recipients: count('Who gets the mail.'),
    suppressed: count('Who gets none, because the address is suppressed.'),
    duplicates: count('Addresses that occur more than once.'),
    invalid: count('Texts that are no address.'),
    by_language: Type.Object(forEachLanguage(() => Type.Integer({ examples: [40] }))),
    examples: Type.Array(ref(CampaignRecipient), { description: 'The first who get the mail.' }),
    excluded: Type.Array(ref(CampaignRecipient), { description: 'The first who get none.' }),
  },
  { $id: 'CampaignDryRun' },
);
export type CampaignDryRun = Static<typeof CampaignDryRun>;

export const CampaignTestMail = Type.Object(
  {
    texts: ref(CampaignTexts),
    language,
    audience: ref(CampaignAudience),
  },
  { $id: 'CampaignTestMail', additionalProperties: false },
);
export type CampaignTestMail = Static<typeof CampaignTestMail>;

const CampaignTestResult = Type.Object(
  { sent_to: Type.String({ examples: ['anna@example.com'] }) },
  { $id: 'CampaignTestResult' },
);
export const CampaignPreviewRequest = Type.Object(
  {
    text: ref(CampaignText),
    language,
    source: oneOf(AUDIENCE_SOURCES, { examples: ['subscribers'] }),
    name: nullable(text({ maxLength: MAX_CAMPAIGN_NAME_LENGTH, examples: ['Ada'] })),
  },
  { $id: 'CampaignPreviewRequest', additionalProperties: false },
);
export type CampaignPreviewRequest = Static<typeof CampaignPreviewRequest>;

export const CampaignProblem = Type.Object(
  {
    language,
    field: oneOf(['subject', 'preview', 'text'], { examples: ['text'] }),
    line: nullable(
      integer({
        description: 'The line of the field, from 1.',
        minimum: 1,
        maximum: 20_000,
        examples: [3],
      }),
    ),
    message: Type.String({ examples: ['Unknown placeholder {{nmae}}. Did you mean {{name}}?'] }),
  },
  { $id: 'CampaignProblem' },
);
export type CampaignProblem = Static<typeof CampaignProblem>;

export const CampaignPreview = Type.Object(
  {
    subject: Type.String({ examples: ['Example 2.0 is here'] }),
    html: Type.String(),
    text: Type.String(),
    problems: Type.Array(ref(CampaignProblem), {
      description: 'What prevents sending; empty: nothing.',
    }),
  },
  { $id: 'CampaignPreview' },
);
export type CampaignPreview = Static<typeof CampaignPreview>;

const CampaignTemplate = Type.Object({
  template: oneOf(OUTREACH_TEMPLATES, { examples: ['update_personal'] }),
  texts: ref(CampaignTexts),
});

const Placeholder = Type.Object({
  placeholder: Type.String({ examples: ['{{version}}'] }),
  description: Type.String({ examples: ['The new version'] }),
  value: nullableString({
    description: 'What it is replaced by now; null: the catalogue has no value for it.',
    examples: ['2.0'],
  }),
});

/** What a new mail can start from. */
export const CampaignStart = Type.Object(
  {
    templates: Type.Array(CampaignTemplate),
    placeholders: Type.Array(Placeholder),
    products: Type.Array(
      Type.Object({
        id: Type.String({ examples: ['personal'] }),
        name: Type.String({ examples: ['Personal'] }),
      }),
    ),
    sender: nullableString({
      description: 'Null: no mail is configured.',
      examples: ['Example Shop <shop@example.com>'],
    }),
  },
  { $id: 'CampaignStart' },
);
export type CampaignStart = Static<typeof CampaignStart>;

export const showCampaignStart = operation({
  id: 'showCampaignStart',
  method: 'GET',
  path: 'outreach/start',
  summary: 'Show the templates and placeholders of campaigns',
  permission: 'campaigns:read',
  response: ref(CampaignStart, 'What a new mail can start from.'),
});

export const showPreviewFrame = operation({
  id: 'showPreviewFrame',
  method: 'GET',
  path: 'outreach/preview-frame',
  summary: 'The document that shows a preview',
  description:
    'A sandboxed page for a frame of the console. It shows the HTML that its parent sends with `postMessage`.',
  permission: 'campaigns:read',
  response: htmlFile('The page.'),
});

export const previewCampaign = operation({
  id: 'previewCampaign',
  method: 'POST',
  path: 'outreach/preview',
  summary: 'Render a text as it would be sent',
  permission: 'campaigns:read',
  body: ref(CampaignPreviewRequest),
  maxBodyBytes: MAX_TEXTS_BYTES,
  response: ref(CampaignPreview, 'The mail, and what prevents sending it.'),
});

export const dryRunCampaign = operation({
  id: 'dryRunCampaign',
  method: 'POST',
  path: 'outreach/dry-run',
  summary: 'Show who would get a mail and who would not',
  permission: 'campaigns:read',
  body: ref(CampaignRecipients),
  maxBodyBytes: MAX_LIST_BYTES,
  response: ref(CampaignDryRun, 'Nothing was sent.'),
});

export const exportDryRun = operation({
  id: 'exportDryRun',
  method: 'POST',
  path: 'outreach/dry-run/export',
  summary: 'Export who would get a mail and who would not as CSV',
  description: 'The audit log records each export.',
  permission: 'campaigns:export-recipients',
  body: ref(CampaignRecipients),
  maxBodyBytes: MAX_LIST_BYTES,
  response: csvFile('All rows.'),
});

export const sendTestMail = operation({
  id: 'sendTestMail',
  method: 'POST',
  path: 'outreach/test-mail',
  summary: 'Send a mail to yourself',
  description: 'The audit log records it.',
  permission: 'campaigns:test',
  body: ref(CampaignTestMail),
  maxBodyBytes: MAX_TEXTS_BYTES,
  response: ref(CampaignTestResult, 'The relay accepted the mail.'),
  errors: ['not_possible'],
});
