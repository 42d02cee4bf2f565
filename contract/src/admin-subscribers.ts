import { type Static, Type } from 'typebox';

import { listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
import { LANGUAGES } from './constants.ts';
import { dateTime, email, nullable, nullableString, oneOf, text, uuid } from './schema.ts';

/** The states of subscribers; `suppressed` by an operator, `erased` without a stored address. */
export const SUBSCRIBER_STATES = [
  'pending',
  'confirmed',
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'erased',
] as const;

/** Why an address receives no newsletter and no outreach; `by_hand`: suppressed by an operator. */
export const SUPPRESSION_REASONS = [
  'unsubscribed',
  'erased',
  'by_hand',
  'bounced',
  'complained',
] as const;

export type SuppressionReasonName = (typeof SUPPRESSION_REASONS)[number];

const exampleId = '5b0e4f5c-9a41-8c37-b2d1-7f6a5e4d3c2b';

const suppressionReason = oneOf(SUPPRESSION_REASONS, { examples: ['unsubscribed'] });

const facts = {
  id: uuid({ examples: [exampleId] }),
  email: nullableString({
    description: 'Null when the address was erased.',
    examples: ['ada@example.com'],
  }),
  state: oneOf(SUBSCRIBER_STATES, { examples: ['confirmed'] }),
  language: nullable(oneOf(LANGUAGES, { examples: ['en'] })),
  opt_in: nullable(
    oneOf(['single', 'double'], {
      description: '`double`: confirmed from the mailbox; `single`: accepted without confirmation.',
      examples: ['double'],
    }),
  ),
  first_subscribed_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  subscribed_at: dateTime({
    description: 'The newest request.',
    examples: ['2026-11-20T10:00:00.000Z'],
  }),
  confirmed_at: nullable(dateTime({ examples: ['2026-11-20T10:04:00.000Z'] })),
  confirmation_mailed_at: nullable(
    dateTime({
      description: 'When the newest e-mail that asks for confirmation was sent.',
      examples: ['2026-11-20T10:00:01.000Z'],
    }),
  ),
  confirmation_problem: nullableString({
    description:
      'Why the newest confirmation e-mail was not sent: a code of the mail relay, or `mailbox_limit` after five to the mailbox within a day.',
    examples: ['smtp_550'],
  }),
  suppression_reason: nullable(suppressionReason),
  suppressed_at: nullable(dateTime({ examples: ['2026-11-21T08:00:00.000Z'] })),
};

export const AdminSubscriber = Type.Object(facts, { $id: 'AdminSubscriber' });
export type AdminSubscriber = Static<typeof AdminSubscriber>;

export const AdminSubscriberList = listOf(AdminSubscriber, 'AdminSubscriberList');
export type AdminSubscriberList = Static<typeof AdminSubscriberList>;

const filters = {
  state: Type.Optional(oneOf(SUBSCRIBER_STATES)),
  language: Type.Optional(oneOf(LANGUAGES)),
  opt_in: Type.Optional(oneOf(['single', 'double'])),
  product: Type.Optional(
    text({
      description: 'Only subscribers with a license of this product.',
      maxLength: 200,
      examples: ['personal'],
    }),
  ),
  since: Type.Optional(dateTime({ description: 'First subscribed at or after.' })),
  until: Type.Optional(dateTime({ description: 'First subscribed before.' })),
};

const SORTS = ['-first_subscribed_at'] as const;
const SEARCH = 'An address in any spelling, the start of one, or `@` and the start of a domain.';

export const AdminSubscriberQuery = listQuery(SORTS, filters, SEARCH);
export type AdminSubscriberQuery = Static<typeof AdminSubscriberQuery>;

export const AdminSubscriberRows = rowsQuery(SORTS, filters, SEARCH);
export type AdminSubscriberRows = Static<typeof AdminSubscriberRows>;

export const AdminSubscriberPath = Type.Object({ id: uuid() });

const AddressMail = Type.Object({
  template: Type.String({
    description: 'A template of `POST /api/v1/outreach/send`, or the name of a campaign.',
    examples: ['update_personal'],
  }),
  language: Type.String({ examples: ['en'] }),
  state: Type.String({ examples: ['sent'] }),
  created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
});

const AddressChange = Type.Object({
  occurred_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  actor: Type.String({ examples: ['operator:anna@example.com'] }),
  action: Type.String({ examples: ['suppression.add'] }),
  reason: nullableString({ examples: ['asked by phone'] }),
});

export const AdminSubscriberDetail = Type.Object(
  {
    ...facts,
    outreach: Type.Array(AddressMail, {
      description: 'The outreach messages of the last 30 days, newest first.',
    }),
    history: Type.Array(AddressChange, { description: 'Changes by operators, oldest first.' }),
  },
  { $id: 'AdminSubscriberDetail' },
);
export type AdminSubscriberDetail = Static<typeof AdminSubscriberDetail>;

/** A change whose only value is its reason. */
export const SubscriberChange = Type.Object({ reason }, { $id: 'SubscriberChange' });
export type SubscriberChange = Static<typeof SubscriberChange>;

export const AdminSuppression = Type.Object(
  {
    address_hash: Type.String({
      description: 'The HMAC of the address, which identifies the suppression.',
      examples: ['5b0e4f'.padEnd(64, '0')],
    }),
    email: nullableString({
      description: 'The address, if it is stored for a subscriber; else null.',
      examples: ['ada@example.com'],
    }),
    subscriber_id: nullable(uuid({ examples: [exampleId] })),
    reason: suppressionReason,
    suppressed_at: dateTime({ examples: ['2026-11-21T08:00:00.000Z'] }),
  },
  { $id: 'AdminSuppression' },
);
export type AdminSuppression = Static<typeof AdminSuppression>;

export const AdminSuppressionList = listOf(AdminSuppression, 'AdminSuppressionList');
export type AdminSuppressionList = Static<typeof AdminSuppressionList>;

const suppressionFilters = {
  reason: Type.Optional(suppressionReason),
  since: Type.Optional(dateTime({ description: 'Suppressed at or after.' })),
  until: Type.Optional(dateTime({ description: 'Suppressed before.' })),
};

const SUPPRESSION_SORTS = ['-suppressed_at'] as const;
const SUPPRESSION_SEARCH =
  'A complete address, since only the HMACs of addresses are stored, or the start of an `address_hash`.';

export const AdminSuppressionQuery = listQuery(
  SUPPRESSION_SORTS,
  suppressionFilters,
  SUPPRESSION_SEARCH,
);
export type AdminSuppressionQuery = Static<typeof AdminSuppressionQuery>;

export const AdminSuppressionRows = rowsQuery(
  SUPPRESSION_SORTS,
  suppressionFilters,
  SUPPRESSION_SEARCH,
);
export type AdminSuppressionRows = Static<typeof AdminSuppressionRows>;

export const SuppressionAdd = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason },
  { $id: 'SuppressionAdd' },
);
export type SuppressionAdd = Static<typeof SuppressionAdd>;

export const SuppressionRemove = Type.Object(
  {
    address_hash: text({
      description: 'The `address_hash` of the suppression.',
      maxLength: 64,
      examples: ['5b0e4f'.padEnd(64, '0')],
    }),
    reason,
  },
  { $id: 'SuppressionRemove' },
);
export type SuppressionRemove = Static<typeof SuppressionRemove>;

/** The named schemas of subscribers and suppressions. */
export const subscriberSchemas = [
  AdminSubscriber,
  AdminSubscriberDetail,
  AdminSubscriberList,
  AdminSuppression,
  AdminSuppressionList,
  SubscriberChange,
  SuppressionAdd,
  SuppressionRemove,
] as const;
