import { type Static, Type } from 'typebox';

import { expectedVersion, listOf, listQuery, rowsQuery } from './admin-list.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** The statuses of a license, highest precedence first. */
const STATUSES = [
  'revoked',
  'refunded',
  'suspended',
  'paused',
  'canceled',
  'expired',
  'past_due',
  'active',
] as const;

/** Why a request with the key of a license was refused. */
const LICENSE_REFUSALS = [
  'activation_limit_reached',
  'move_limit_reached',
  'machine_mismatch',
  'activation_inactive',
  'activation_not_found',
  'trial_expired',
  'license_expired',
  'license_paused',
  'license_canceled',
  'license_refunded',
  'license_suspended',
  'license_revoked',
] as const;

export const MAX_MACHINES = 1_000_000;
const MAX_TEXT_LENGTH = 1_000;
const EXAMPLE_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
const EXAMPLE_TIME = '2026-11-20T10:00:00.000Z';

const shortText = (description: string, example: string) =>
  text({ description, maxLength: MAX_TEXT_LENGTH, examples: [example] });

const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

const nullableTime = (description: string) =>
  nullable(dateTime({ description, examples: [EXAMPLE_TIME] }));

const summary = {
  id: uuid({ examples: [EXAMPLE_ID] }),
  key_hint: Type.String({ description: 'The last characters of the key.', examples: ['7Q2M'] }),
  product: Type.String({ description: 'The id of the product.', examples: ['personal'] }),
  product_name: Type.String({
    description: 'Its name in the catalogue; the id if the product is not in it.',
    examples: ['Personal'],
  }),
  tier: nullableString({ examples: ['personal'] }),
  status: oneOf(STATUSES, { examples: ['active'] }),
  trial: Type.Boolean(),
  subscription: Type.Boolean({ description: 'Whether it is paid periodically.' }),
  expires_at: nullableTime('The end of the license; null: perpetual.'),
  updates_until: nullableTime(
    'The end of the time in which it gets new versions; null: it gets all.',
  ),
  max_activations: count('How many machines may be active at once.', 2),
  active_machines: count('How many machines are active now.', 1),
  last_seen_at: nullableTime('The newest validation of any machine; null: none was ever active.'),
  refusals_this_week: count('Refused requests with its key within 7 days.', 0),
  customer_email: nullableString({ examples: ['ann@example.com'] }),
  customer_name: nullableString({ examples: ['Ann Example'] }),
  transaction_id: nullableString({
    description: 'The checkout that created it; null: it was not bought.',
    examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
  }),
  note: nullableString({ description: 'A note of operators.' }),
  is_test: Type.Boolean({
    description:
      "Whether a purchase in a payment provider's test mode created it; no number counts it.",
  }),
  created_at: dateTime({ examples: [EXAMPLE_TIME] }),
  version: expectedVersion,
};

export const AdminLicense = Type.Object(summary, {
  $id: 'AdminLicense',
  description: 'A license in a list, without its key.',
});
export type AdminLicense = Static<typeof AdminLicense>;

export const AdminLicenses = listOf(AdminLicense, 'AdminLicenses');
export type AdminLicenses = Static<typeof AdminLicenses>;

const filters = {
  search: Type.Optional(
    text({
      description:
        'A license key, its last characters, the id of a license or of a checkout, or the beginning of an e-mail address or of a name.',
      maxLength: 320,
      examples: ['ann@example.com'],
    }),
  ),
  status: Type.Optional(oneOf(STATUSES, { description: 'Only this status.' })),
  product: Type.Optional(shortText('Only the product with this id.', 'personal')),
  tier: Type.Optional(shortText('Only the tier as sold.', 'personal')),
  trial: Type.Optional(oneOf(['true', 'false'], { description: 'Only trials, or none.' })),
  email: Type.Optional(shortText('Only this customer.', 'ann@example.com')),
  transaction: Type.Optional(shortText('Only the licenses of this checkout.', 'txn_01hv')),
  expiring_days: Type.Optional(
    text({
      description: 'Active licenses that end within this many days: 1 to 3650.',
      maxLength: 4,
      examples: ['30'],
    }),
  ),
  expires_before: Type.Optional(
    text({
      description: 'Active licenses that end before this date (00:00 UTC) or date-time.',
      maxLength: 40,
      examples: ['2027-01-01'],
    }),
  ),
  machines: Type.Optional(
    oneOf(['limit_reached', 'never_activated', 'silent'], {
      description:
        '`limit_reached`: no machine is free; `never_activated`; `silent`: usable, and no machine validated for 90 days. To the minute.',
    }),
  ),
  refused: Type.Optional(
    oneOf(['any', ...LICENSE_REFUSALS], {
      description: 'Requests with its key were refused within 7 days, for any or for this reason.',
    }),
  ),
};

const sorts = ['-created_at', 'expires_at'] as const;

export const AdminLicenseQuery = listQuery([...sorts], filters);
export type AdminLicenseQuery = Static<typeof AdminLicenseQuery>;

export const AdminLicenseExportQuery = rowsQuery([...sorts], filters);
export type AdminLicenseExportQuery = Static<typeof AdminLicenseExportQuery>;

export const AdminLicensePath = Type.Object({ id: uuid() });
export const AdminMachinePath = Type.Object({ id: uuid(), activation_id: uuid() });

export const LicenseMachine = Type.Object(
  {
    activation_id: uuid({ examples: [EXAMPLE_ID] }),
    machine_id: nullableString({
      description: 'As the client sent it; null until the first validation.',
      examples: ['4c4c4544-0044'],
    }),
    is_active: Type.Boolean(),
    os_version: nullableString({ examples: ['15.1'] }),
    app_version: nullableString({ examples: ['2.4.0'] }),
    activated_at: dateTime({ examples: [EXAMPLE_TIME] }),
    deactivated_at: nullableTime('Null while it is active.'),
    last_seen_at: dateTime({
      description: 'The newest validation or heartbeat.',
      examples: [EXAMPLE_TIME],
    }),
    validation_count: Type.Integer({ examples: [12] }),
    offline_until: nullableTime(
      'Until when the software may run without reaching the service; null: inactive.',
    ),
    airgapped_until: nullableTime(
      'The end of its entitlement for use without a connection, which nobody can end earlier; null: it has none.',
    ),
  },
  { $id: 'LicenseMachine' },
);
export type LicenseMachine = Static<typeof LicenseMachine>;

export const LicenseRefusalCount = Type.Object(
  {
    reason: Type.String({ examples: ['activation_limit_reached'] }),
    refusals: Type.Integer({ examples: [3] }),
    last_at: dateTime({ examples: [EXAMPLE_TIME] }),
  },
  { $id: 'LicenseRefusalCount' },
);
export type LicenseRefusalCount = Static<typeof LicenseRefusalCount>;

export const LicenseDiagnosis = Type.Object(
  {
    code: Type.String({ description: 'A stable code.', examples: ['limit_reached'] }),
    level: oneOf(['ok', 'notice', 'problem'], { examples: ['problem'] }),
    sentence: Type.String({
      description: 'Why the license does not work on a computer, or that it works.',
      examples: ['All 2 computers of the license are in use, and another one was refused 3 times.'],
    }),
    advice: Type.String({
      description: 'What to do.',
      examples: ['Free a computer that is no longer used, or raise the limit.'],
    }),
    actions: Type.Array(Type.String({ examples: ['free_machine'] }), {
      description: 'The operations that help, the best one first.',
    }),
  },
  { $id: 'LicenseDiagnosis' },
);
export type LicenseDiagnosis = Static<typeof LicenseDiagnosis>;

const LicenseMoves = Type.Object({
  used: count('Different machines within the period.', 2),
  limit: count('How many are allowed within the period.', 5),
  days: count('The length of the period in days.', 30),
  extra: count('Unused moves that an operator allowed beyond the limit.', 0),
});

export const AdminLicenseDetails = Type.Object(
  {
    ...summary,
    diagnosis: ref(LicenseDiagnosis),
    features: Type.Array(Type.String({ examples: ['gpu'] })),
    in_catalogue: Type.Boolean({ description: 'Whether the catalogue has its product.' }),
    offline_days: count('How long the software runs without a validation.', 14),
    usable_until: nullableTime(
      'When it stops working if nothing changes, grace included; null: never.',
    ),
    cancel_scheduled_for: nullableTime('When a scheduled cancellation takes effect.'),
    canceled_at: nullableTime('When it was canceled.'),
    paused_at: nullableTime('When its subscription was paused.'),
    suspended_at: nullableTime('When an operator suspended it.'),
    disputed_at: nullableTime('Since when its payment is disputed.'),
    refunded_at: nullableTime('When its payment was refunded.'),
    revoked_at: nullableTime('When it was revoked.'),
    extended_until: nullableString({
      description:
        'The end that an operator set, which payments do not move back; `infinity`: perpetual.',
      examples: ['2027-01-01T00:00:00.000Z'],
    }),
    granted_activations: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'The limit of machines that an operator set; payments do not go below it.',
      examples: [3],
    }),
    owner_changed_at: nullableTime(
      'When an operator changed the customer; since then payments do not change it.',
    ),
    moves: LicenseMoves,
    refusals: Type.Array(ref(LicenseRefusalCount), {
      description: 'Refused requests with its key within 7 days, by reason, the newest first.',
    }),
    key_email_state: nullableString({
      description:
        'The e-mail with its key after the purchase: `waiting`, `sending`, `sent`, `refused` or `withheld`; null: none.',
      examples: ['sent'],
    }),
    key_email_reason: nullableString({ description: 'A code for why it was not sent.' }),
    key_email_sent_at: nullableTime('When the mail relay accepted it.'),
    provider: nullableString({
      description: 'The payment provider of its purchase.',
      examples: ['paddle'],
    }),
    machines: Type.Array(ref(LicenseMachine), {
      description:
        'Active machines first, then deactivated ones, each oldest first; at most 1,000.',
    }),
  },
  {
    $id: 'AdminLicenseDetails',
    description: 'Everything about a license but its key.',
  },
);
export type AdminLicenseDetails = Static<typeof AdminLicenseDetails>;

/** The kinds of items of a timeline. */
export const LICENSE_TIMELINE_KINDS = [
  'license',
  'audit',
  'payment',
  'mail',
  'machine',
  'refusal',
  'webhook',
] as const;

export const LicenseTimelineItem = Type.Object(
  {
    id: Type.String({ examples: ['audit:0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    occurred_at: dateTime({ examples: [EXAMPLE_TIME] }),
    kind: oneOf(LICENSE_TIMELINE_KINDS, { examples: ['audit'] }),
    code: Type.String({
      description:
        'The action of an audit entry, the type of a payment event or webhook, the state of an e-mail, the reason of refusals; `activated` or `deactivated`; `created`.',
      examples: ['license.suspend'],
    }),
    actor: nullableString({ examples: ['operator:anna@example.com'] }),
    reason: nullableString(),
    details: Type.Record(
      Type.String(),
      Type.Unsafe<string | number | boolean | null>({
        type: ['string', 'number', 'boolean', 'null'],
      }),
    ),
  },
  { $id: 'LicenseTimelineItem' },
);
export type LicenseTimelineItem = Static<typeof LicenseTimelineItem>;

export const LicenseTimeline = listOf(LicenseTimelineItem, 'LicenseTimeline');
export type LicenseTimeline = Static<typeof LicenseTimeline>;

const timelineFilters = {
  kind: Type.Optional(oneOf(LICENSE_TIMELINE_KINDS, { description: 'Only this kind.' })),
};

export const LicenseTimelineQuery = Type.Omit(
  listQuery(['-occurred_at'], timelineFilters),
  ['sort'],
  { additionalProperties: false },
);
export type LicenseTimelineQuery = Static<typeof LicenseTimelineQuery>;

export const LicenseTimelineExportQuery = Type.Object(timelineFilters, {
  additionalProperties: false,
});
export type LicenseTimelineExportQuery = Static<typeof LicenseTimelineExportQuery>;
