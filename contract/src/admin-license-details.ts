import { type Static, Type } from 'typebox';

import { licenseSummary } from './admin-licenses.ts';
import { count, EXAMPLE_ID, EXAMPLE_TIME, licensePath, nullableTime } from './license-fields.ts';
import { operation } from './operation.ts';
import { dateTime, nullableString, oneOf, ref, uuid } from './schema.ts';

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
    ...licenseSummary,
    diagnosis: ref(LicenseDiagnosis),
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

export const showLicense = operation({
  id: 'showLicense',
  method: 'GET',
  path: 'licenses/:id',
  summary: 'Show a license, and why it does not work',
  description: 'Everything but its key. `diagnosis` is one sentence, and what to do.',
  permission: 'licenses:read',
  params: licensePath,
  response: ref(AdminLicenseDetails, 'The license.'),
  errors: ['license_not_found'],
});
