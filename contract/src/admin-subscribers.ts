import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { Done } from './admin-session.ts';
import { LANGUAGES } from './constants.ts';
import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, email, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

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

export const subscribers = listResource({
  id: 'Subscribers',
  name: 'subscriber',
  title: 'subscribers',
  path: 'subscribers',
  item: AdminSubscriber,
  sorts: ['-first_subscribed_at'],
  search: 'An address in any spelling, the start of one, or `@` and the start of a domain.',
  filters: {
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
  },
  permissions: { read: 'subscribers:read', export: 'subscribers:export' },
});

const params = Type.Object({ id: uuid() });

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
const SubscriberChange = Type.Object(
  { reason },
  { $id: 'SubscriberChange', additionalProperties: false },
);

export const showSubscriber = operation({
  id: 'showSubscriber',
  method: 'GET',
  path: 'subscribers/:id',
  summary: 'Show a subscriber with outreach messages and changes',
  permission: 'subscribers:read',
  params,
  response: ref(AdminSubscriberDetail, 'The subscriber.'),
  errors: ['not_found'],
});

export const resendConfirmation = operation({
  id: 'resendConfirmation',
  method: 'POST',
  path: 'subscribers/:id/resend-confirmation',
  summary: 'Send the confirmation e-mail again',
  description:
    'At most every five minutes and three times a day. A subscriber who needs no confirmation, or cannot confirm, is a `conflict`.',
  permission: 'subscribers:resend',
  params,
  body: ref(SubscriberChange),
  response: ref(Done, 'The e-mail is sent in a moment.'),
  errors: ['not_found', 'conflict', 'not_possible', 'rate_limited'],
});

export const unsubscribeSubscriber = operation({
  id: 'unsubscribeSubscriber',
  method: 'POST',
  path: 'subscribers/:id/unsubscribe',
  summary: 'Unsubscribe a subscriber',
  description: 'The subscriber can subscribe again. Another suppression remains.',
  permission: 'subscribers:unsubscribe',
  params,
  body: ref(SubscriberChange),
  response: ref(AdminSubscriberDetail, 'The subscriber now.'),
  errors: ['not_found'],
});

export const eraseSubscriber = operation({
  id: 'eraseSubscriber',
  method: 'POST',
  path: 'subscribers/:id/erase',
  summary: 'Erase a subscriber',
  description:
    'Deletes the subscription and its outreach, and suppresses the address. Licenses keep their customer data.',
  permission: 'subscribers:erase',
  params,
  body: ref(SubscriberChange),
  response: ref(Done, 'The subscriber was erased.'),
  errors: ['not_found'],
});

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

export const suppressions = listResource({
  id: 'Suppressions',
  name: 'suppression',
  title: 'suppressions',
  description: 'Addresses that receive no newsletter and no outreach.',
  path: 'suppressions',
  item: AdminSuppression,
  sorts: ['-suppressed_at'],
  search:
    'A complete address, since only the HMACs of addresses are stored, or the start of an `address_hash`.',
  filters: {
    reason: Type.Optional(suppressionReason),
    since: Type.Optional(dateTime({ description: 'Suppressed at or after.' })),
    until: Type.Optional(dateTime({ description: 'Suppressed before.' })),
  },
  permissions: { read: 'suppressions:read', export: 'suppressions:export' },
});

const SuppressionAdd = Type.Object(
  { email: email({ examples: ['ada@example.com'] }), reason },
  { $id: 'SuppressionAdd', additionalProperties: false },
);

export const addSuppression = operation({
  id: 'addSuppression',
  method: 'POST',
  path: 'suppressions',
  summary: 'Suppress an address',
  description: 'It receives no newsletter and no outreach; e-mails with keys are still sent.',
  permission: 'suppressions:change',
  body: ref(SuppressionAdd),
  response: ref(Done, 'The address is suppressed.'),
});

const SuppressionRemove = Type.Object(
  {
    address_hash: text({
      description: 'The `address_hash` of the suppression.',
      maxLength: 64,
      examples: ['5b0e4f'.padEnd(64, '0')],
    }),
    reason,
  },
  { $id: 'SuppressionRemove', additionalProperties: false },
);

export const removeSuppression = operation({
  id: 'removeSuppression',
  method: 'POST',
  path: 'suppressions/remove',
  summary: 'Allow mail to a suppressed address again',
  description: 'Only at the request of the owner of the address.',
  permission: 'suppressions:change',
  body: ref(SuppressionRemove),
  response: ref(Done, 'The address is not suppressed any more.'),
  errors: ['not_found'],
});
