import { type Static, Type } from 'typebox';

import { AdminLicenseDetails } from './admin-license-details.ts';
import { reason } from './admin-list.ts';
import {
  customerEmail,
  customerName,
  EXAMPLE_ID,
  licenseKey,
  mailOutcome,
  maxActivations,
  MAX_LICENSE_DAYS,
  MAX_LICENSE_TEXT_LENGTH,
  note,
} from './license-fields.ts';
import { operation } from './operation.ts';
import { dateTime, integer, nullable, ref, text, uuid } from './schema.ts';

/** The fields of one or more licenses to issue. */
const issued = {
  product: text({
    description: 'The id of a product in the catalogue.',
    minLength: 1,
    maxLength: MAX_LICENSE_TEXT_LENGTH,
    examples: ['personal'],
  }),
  customer_email: Type.Optional(nullable(customerEmail)),
  customer_name: Type.Optional(nullable(customerName)),
  transaction_id: Type.Optional(nullable(text({ maxLength: 200 }))),
  max_activations: Type.Optional(maxActivations),
  days: Type.Optional(integer({ minimum: 1, maximum: MAX_LICENSE_DAYS, examples: [30] })),
  expires_at: Type.Optional(
    nullable(
      dateTime({
        description:
          'The end; null: perpetual. Without `expires_at` and `days`, the term of the product starts now.',
      }),
    ),
  ),
  updates_until: Type.Optional(
    nullable(
      dateTime({
        description:
          'The end of updates; null: all updates. Without it, the days of updates of the product start now.',
      }),
    ),
  ),
  note: Type.Optional(nullable(note)),
};

const LicenseIssue = Type.Object(
  {
    ...issued,
    send_mail: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to e-mail the key to the customer.',
      }),
    ),
    reason: Type.Optional(nullable(reason)),
  },
  { $id: 'LicenseIssue', additionalProperties: false },
);
export type LicenseIssue = Static<typeof LicenseIssue>;

const IssuedLicense = Type.Object(
  {
    license: ref(AdminLicenseDetails),
    license_key: licenseKey,
    mail: mailOutcome,
  },
  { $id: 'IssuedLicense' },
);
export type IssuedLicense = Static<typeof IssuedLicense>;

/** The most licenses that one request issues: their transaction blocks the audit log. */
const MAX_ISSUED_AT_ONCE = 100;

const LicensesIssue = Type.Object(
  {
    ...issued,
    count: integer({
      description: 'How many licenses to issue, all or none.',
      minimum: 1,
      maximum: MAX_ISSUED_AT_ONCE,
      examples: [10],
    }),
    reason: Type.Optional(nullable(reason)),
  },
  { $id: 'LicensesIssue', additionalProperties: false },
);
export type LicensesIssue = Static<typeof LicensesIssue>;

const IssuedKey = Type.Object(
  {
    license_id: uuid({ examples: [EXAMPLE_ID] }),
    license_key: licenseKey,
  },
  { $id: 'IssuedKey' },
);

const IssuedLicenses = Type.Object(
  { items: Type.Array(ref(IssuedKey)) },
  { $id: 'IssuedLicenses' },
);
export type IssuedLicenses = Static<typeof IssuedLicenses>;

export const issueLicense = operation({
  id: 'issueLicense',
  method: 'POST',
  path: 'licenses',
  summary: 'Issue a license',
  description: 'Omitted values follow the product. The key is in the answer.',
  permission: 'licenses:issue',
  body: ref(LicenseIssue),
  response: ref(IssuedLicense, 'The license and its key.'),
});

export const issueLicenses = operation({
  id: 'issueLicenses',
  method: 'POST',
  path: 'licenses/batch',
  summary: 'Issue several licenses',
  description:
    'With the same terms and a key each. Nothing is e-mailed. The audit log records each license.',
  permission: 'licenses:issue',
  body: ref(LicensesIssue),
  response: ref(IssuedLicenses, 'The keys, in plain text.'),
});
