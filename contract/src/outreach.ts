import { type Static, Type } from 'typebox';
import { LANGUAGES } from './constants.ts';
import { email, nullable, nullableString, oneOf, ref, text } from './schema.ts';

export const OUTREACH_TEMPLATES = [
  'personal',
  'sellers',
  'update_personal',
  'update_sellers',
  'pi_tutorials',
] as const;
export type OutreachTemplate = (typeof OUTREACH_TEMPLATES)[number];
const MAX_RECIPIENTS = 500;

export const Recipient = Type.Object(
  {
    email: email({ examples: ['ada@example.com'] }),
    name: Type.Optional(
      nullable(
        text({
          description: 'For the greeting, which is neutral without a name.',
          examples: ['Ada'],
        }),
      ),
    ),
  },
  { $id: 'Recipient' },
);
export type Recipient = Static<typeof Recipient>;

export const OutreachRequest = Type.Object(
  {
    template: oneOf(OUTREACH_TEMPLATES),
    language: Type.Optional(oneOf(LANGUAGES, { default: 'en' })),
    recipients: Type.Array(ref(Recipient), { minItems: 1, maxItems: MAX_RECIPIENTS }),
  },
  { $id: 'OutreachRequest' },
);
export type OutreachRequest = Static<typeof OutreachRequest>;

/** The headers of an outreach request. */
export const OutreachHeaders = Type.Object({
  'X-API-Key': text({
    description: 'An API key with the scope `outreach:send`, created with `latchkey key create`.',
  }),
  'Idempotency-Key': Type.Optional(
    text({
      description:
        'Any text that identifies the request. A repeated request with it within 24 hours is not sent again and gets the same response.',
      maxLength: 255,
      examples: ['outreach-2026-11-20-rows-2-to-501'],
    }),
  ),
});

export const OutreachResult = Type.Object(
  {
    email: Type.String({ examples: ['ada@example.com'] }),
    success: Type.Boolean(),
    error: nullableString({
      description:
        'Why it was not sent: a short, stable text. `unknown`: it may have been sent, but the relay did not confirm it.',
      examples: ['suppressed'],
    }),
    message_id: nullableString({
      description:
        'The id of a message that was sent or may have been sent; null for a message that was not sent.',
      examples: ['<outreach-0190a6b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b@example.com>'],
    }),
  },
  { $id: 'OutreachResult' },
);
export type OutreachResult = Static<typeof OutreachResult>;

export const OutreachResponse = Type.Object(
  {
    total: Type.Integer({ examples: [2] }),
    sent: Type.Integer({ examples: [1] }),
    failed: Type.Integer({ examples: [1] }),
    results: Type.Array(ref(OutreachResult), {
      description: 'One for each recipient, in the order of the request.',
    }),
  },
  { $id: 'OutreachResponse' },
);
export type OutreachResponse = Static<typeof OutreachResponse>;
