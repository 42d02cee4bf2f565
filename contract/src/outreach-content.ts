/** What an operator writes for a campaign: texts and audience. */
import { type Static, Type } from 'typebox';

import { forEachLanguage, LANGUAGES } from './constants.ts';
import { oneOf, ref, text } from './schema.ts';

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

/** Three languages of the longest text. */
export const MAX_TEXTS_BYTES = 512 * 1024;

/** Of a body with the longest list of recipients. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** Enough for 50,000 addresses with names. */
const MAX_LIST_LENGTH = 4_000_000;

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
        'Paragraphs between empty lines. `# Heading`, `- item` and `1. step` begin a line; `[text](https://…)` alone on a line is a link, `[[text]](https://…)` a button. `{{product}}`, `{{version}}`, `{{sender}}`, `{{name|friend}}` and the links `{{download_url}}`, `{{sellers_url}}`, `{{tutorials_url}}` and `{{news_url}}` are replaced. The greeting, the signature and the unsubscribe link are added.',
      maxLength: MAX_CAMPAIGN_TEXT_LENGTH,
      examples: ['Version {{version}} is ready.\n\n[[Get it]]({{download_url}})'],
    }),
  },
  { $id: 'CampaignText', additionalProperties: false },
);
export type CampaignText = Static<typeof CampaignText>;

/** A mail in one or several languages. */
export const CampaignTexts = Type.Object(
  forEachLanguage(() => Type.Optional(ref(CampaignText))),
  { $id: 'CampaignTexts', additionalProperties: false },
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
    languages: Type.Array(oneOf(LANGUAGES, { examples: ['en'] }), {
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
  { $id: 'CampaignAudience', additionalProperties: false },
);
export type CampaignAudience = Static<typeof CampaignAudience>;

/** Addresses that come with a request. */
export const recipientList = Type.Optional(
  text({
    description:
      'The addresses of the source `list`, one on each line: `ada@example.com`, `Ada <ada@example.com>`, or address, name and language separated by commas, semicolons or tabs.',
    maxLength: MAX_LIST_LENGTH,
    examples: ['ada@example.com, Ada, en'],
  }),
);
