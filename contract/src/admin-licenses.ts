import { type Static, Type } from 'typebox';

import { expectedVersion } from './admin-list.ts';
import {
  count,
  EXAMPLE_ID,
  EXAMPLE_TIME,
  MAX_LICENSE_TEXT_LENGTH,
  nullableTime,
} from './license-fields.ts';
import { listResource } from './list-resource.ts';
import { csvFile, operation } from './operation.ts';
import { dateTime, nullableString, oneOf, text, uuid } from './schema.ts';

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

const shortText = (description: string, example: string) =>
  text({ description, maxLength: MAX_LICENSE_TEXT_LENGTH, examples: [example] });

/** The fields of a license in a list. */
export const licenseSummary = {
  id: uuid({ examples: [EXAMPLE_ID] }),
  key_hint: Type.String({ description: 'The last characters of the key.', examples: ['7Q2M'] }),
  product: Type.String({ description: 'The id of the product.', examples: ['personal'] }),
  product_name: Type.String({
    description: 'Its name in the catalogue; the id if the product is not in it.',
    examples: ['Personal'],
  }),
  tier: nullableString({ examples: ['personal'] }),
  features: Type.Array(Type.String({ examples: ['gpu'] })),
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

export const AdminLicense = Type.Object(licenseSummary, {
  $id: 'AdminLicense',
  description: 'A license in a list, without its key.',
});
export type AdminLicense = Static<typeof AdminLicense>;

export const licenses = listResource({
  id: 'Licenses',
  name: 'license',
  title: 'licenses',
  path: 'licenses',
  description: 'Without their keys. Filters apply together.',
  item: AdminLicense,
  sorts: ['-created_at', 'expires_at'],
  search:
    'A license key, its last characters, the id of a license or of a checkout, or the beginning of an e-mail address or of a name.',
  personal: ['search', 'email', 'transaction'],
  filters: {
    status: Type.Optional(oneOf(STATUSES, { description: 'Only this status.' })),
    product: Type.Optional(shortText('Only the product with this id.', 'personal')),
    tier: Type.Optional(shortText('Only the tier as sold.', 'personal')),
    trial: Type.Optional(oneOf(['true', 'false'], { description: 'Only trials, or none.' })),
    test: Type.Optional(
      oneOf(['true', 'false'], { description: 'Only licenses of test purchases, or none.' }),
    ),
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
        description:
          'Requests with its key were refused within 7 days, for any or for this reason.',
      }),
    ),
  },
  permissions: { read: 'licenses:read', export: 'licenses:export' },
  // An import reads the file, and knows `license_id`.
  columns: [
    'id as license_id',
    'key_hint',
    'product',
    'tier',
    'features',
    'status',
    'expires_at',
    'updates_until',
    'max_activations',
    'trial',
    'subscription',
    'customer_email',
    'customer_name',
    'note',
    'is_test',
    'transaction_id',
    'created_at',
  ],
});

export const exportLicensesWithKeys = operation({
  id: 'exportLicensesWithKeys',
  method: 'GET',
  path: 'licenses/export-with-keys',
  summary: 'Export licenses with their keys as CSV',
  description:
    'With the filters of the list; `trial=true`: of trials. The audit log records it. The cell of a key that cannot be unsealed is empty, and the service logs `license.key_unreadable`.',
  permission: 'licenses:export-keys',
  query: licenses.export.query,
  response: csvFile('All rows.'),
});

export const exportActivations = operation({
  id: 'exportActivations',
  method: 'GET',
  path: 'licenses/export-activations',
  summary: 'Export the activations of licenses as CSV',
  description:
    'With the filters of the list of licenses. Also machines that were deactivated. The audit log records it.',
  permission: 'activations:export',
  query: licenses.export.query,
  response: csvFile('One line for each machine on a license.'),
});
