import { type Static, Type } from 'typebox';

import { licenseImportSchemas } from './admin-license-import.ts';
import { AdminLicenseDetails, MAX_MACHINES } from './admin-licenses.ts';
import { expectedVersion, reason } from './admin-list.ts';
import { dateTime, email, integer, nullable, oneOf, ref, text, uuid } from './schema.ts';

const MAX_TEXT_LENGTH = 1_000;

/** In days; the command line has the same limit. */
const MAX_DAYS = 36_500;

const based = { expected_version: expectedVersion, reason };

const name = text({ maxLength: MAX_TEXT_LENGTH, examples: ['Ann Example'] });
const note = text({ maxLength: MAX_TEXT_LENGTH, examples: ['A press copy'] });
const customerEmail = email({ examples: ['ann@example.com'] });

const machines = integer({
  description: 'How many machines may be active at once.',
  minimum: 1,
  maximum: MAX_MACHINES,
  examples: [3],
});

const days = integer({ minimum: 1, maximum: MAX_DAYS, examples: [30] });

const licenseKey = Type.String({
  description: 'The full key.',
  examples: ['LK-7K2QX-9M4VD-TR8YH-3PWNC-5B1R0'],
});

export const LicenseChange = Type.Object(based, { $id: 'LicenseChange' });
export type LicenseChange = Static<typeof LicenseChange>;

export const LicenseExtend = Type.Object(
  {
    ...based,
    days: Type.Optional(
      integer({
        description:
          'Days to add to the expiry, or to now if the license has expired. Either `days` or `until`.',
        minimum: 1,
        maximum: MAX_DAYS,
      }),
    ),
    until: Type.Optional(
      nullable(
        dateTime({ description: 'The new expiry; null: perpetual. Either `days` or `until`.' }),
      ),
    ),
  },
  {
    $id: 'LicenseExtend',
    examples: [{ expected_version: 3, reason: 'An outage in May', days: 30 }],
  },
);
export type LicenseExtend = Static<typeof LicenseExtend>;

export const LicenseUpdatesChange = Type.Object(
  {
    ...based,
    days: Type.Optional(
      integer({
        description:
          'Days to add to the end of updates, or to now if that has passed. Either `days` or `until`.',
        minimum: 1,
        maximum: MAX_DAYS,
      }),
    ),
    until: Type.Optional(
      nullable(
        dateTime({
          description: 'The new end of updates; null: all updates. Either `days` or `until`.',
        }),
      ),
    ),
  },
  {
    $id: 'LicenseUpdatesChange',
    examples: [{ expected_version: 3, reason: 'Paid by invoice', days: 365 }],
  },
);
export type LicenseUpdatesChange = Static<typeof LicenseUpdatesChange>;

export const LicenseLimitChange = Type.Object(
  { ...based, max_activations: machines },
  { $id: 'LicenseLimitChange' },
);
export type LicenseLimitChange = Static<typeof LicenseLimitChange>;

export const LicenseMovesChange = Type.Object(
  {
    ...based,
    count: integer({
      description: 'How many more moves to allow.',
      minimum: 1,
      maximum: 1_000,
      examples: [1],
    }),
  },
  { $id: 'LicenseMovesChange' },
);
export type LicenseMovesChange = Static<typeof LicenseMovesChange>;

export const LicenseOwnerChange = Type.Object(
  {
    ...based,
    customer_email: Type.Optional(nullable(customerEmail)),
    customer_name: Type.Optional(nullable(name)),
    note: Type.Optional(nullable(note)),
  },
  {
    $id: 'LicenseOwnerChange',
    description: 'Fields that are absent stay as they are; null removes one.',
  },
);
export type LicenseOwnerChange = Static<typeof LicenseOwnerChange>;

export const LicenseRekey = Type.Object(
  {
    ...based,
    keep_machines: Type.Boolean({
      description: 'Whether active machines stay active; otherwise each must activate again.',
    }),
    send_mail: Type.Boolean({ description: 'Whether to e-mail the new key to the customer.' }),
  },
  { $id: 'LicenseRekey' },
);
export type LicenseRekey = Static<typeof LicenseRekey>;

const mailOutcome = oneOf(
  ['queued', 'not_wanted', 'not_configured', 'no_address', 'not_valid', 'sending'],
  {
    description:
      'Whether the e-mail is queued, or why not: no mail relay, no address, a license that is not usable, or an e-mail that is just being sent.',
    examples: ['queued'],
  },
);

export const RekeyedLicense = Type.Object(
  {
    license: ref(AdminLicenseDetails),
    license_key: licenseKey,
    machines: Type.Integer({ description: 'The machines that were kept or deactivated.' }),
    mail: mailOutcome,
  },
  { $id: 'RekeyedLicense' },
);
export type RekeyedLicense = Static<typeof RekeyedLicense>;

export const LicenseReason = Type.Object({ reason }, { $id: 'LicenseReason' });
export type LicenseReason = Static<typeof LicenseReason>;

export const LicenseReveal = Type.Object(
  { reason: Type.Optional(nullable(reason)) },
  { $id: 'LicenseReveal' },
);
export type LicenseReveal = Static<typeof LicenseReveal>;

export const LicenseMailOutcome = Type.Object({ mail: mailOutcome }, { $id: 'LicenseMailOutcome' });
export type LicenseMailOutcome = Static<typeof LicenseMailOutcome>;

export const RevealedLicenseKey = Type.Object(
  { license_key: licenseKey },
  { $id: 'RevealedLicenseKey' },
);
export type RevealedLicenseKey = Static<typeof RevealedLicenseKey>;

/** The fields of one or more licenses to issue. */
const issued = {
  product: text({
    description: 'The id of a product in the catalogue.',
    minLength: 1,
    maxLength: MAX_TEXT_LENGTH,
    examples: ['personal'],
  }),
  customer_email: Type.Optional(nullable(customerEmail)),
  customer_name: Type.Optional(nullable(name)),
  transaction_id: Type.Optional(nullable(text({ maxLength: 200 }))),
  max_activations: Type.Optional(machines),
  days: Type.Optional(days),
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

export const LicenseIssue = Type.Object(
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
  { $id: 'LicenseIssue' },
);
export type LicenseIssue = Static<typeof LicenseIssue>;

export const IssuedLicense = Type.Object(
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

export const LicensesIssue = Type.Object(
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
  { $id: 'LicensesIssue' },
);
export type LicensesIssue = Static<typeof LicensesIssue>;

const IssuedKey = Type.Object(
  {
    license_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    license_key: licenseKey,
  },
  { $id: 'IssuedKey' },
);

export const IssuedLicenses = Type.Object(
  { items: Type.Array(ref(IssuedKey)) },
  { $id: 'IssuedLicenses' },
);
export type IssuedLicenses = Static<typeof IssuedLicenses>;

/** The named schemas of changes to licenses, for the interface document. */
export const licenseChangeSchemas = [
  LicenseChange,
  LicenseExtend,
  LicenseUpdatesChange,
  LicenseLimitChange,
  LicenseMovesChange,
  LicenseOwnerChange,
  LicenseRekey,
  RekeyedLicense,
  LicenseReason,
  LicenseReveal,
  LicenseMailOutcome,
  RevealedLicenseKey,
  LicenseIssue,
  LicensesIssue,
  IssuedKey,
  IssuedLicense,
  IssuedLicenses,
  ...licenseImportSchemas,
] as const;
