import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { operation } from './operation.ts';
import { nullable, ref, text } from './schema.ts';

/** Characters in one import: some 5,000 licenses. */
const MAX_IMPORT_LENGTH = 1_000_000;

/** A million characters of up to four bytes. */
const IMPORT_BODY_BYTES = 4_194_304;

const LicenseImport = Type.Object(
  {
    csv: Type.Optional(
      text({
        description:
          'CSV with a header. Columns: license_key, product, customer_email, customer_name, transaction_id, max_activations, devices, expires_at, subscription, subscription_id, provider, status, note, created_at, license_id. Only license_key is required.',
        minLength: 1,
        maxLength: MAX_IMPORT_LENGTH,
        examples: ['license_key,product\nACME-4711-QX7R-92KD,personal\n'],
      }),
    ),
    jsonl: Type.Optional(
      text({
        description:
          'Instead of `csv`: a JSON object on each line, with the columns of `csv` as fields.',
        minLength: 1,
        maxLength: MAX_IMPORT_LENGTH,
      }),
    ),
    product: Type.Optional(
      nullable(text({ description: 'The product of records without one.', maxLength: 200 })),
    ),
    dry_run: Type.Boolean({
      description: 'Validate every record without importing it.',
      examples: [true],
    }),
    allow_weak_keys: Type.Optional(
      Type.Boolean({ default: false, description: 'Import keys that can be guessed.' }),
    ),
    reason: Type.Optional(nullable(reason)),
  },
  { $id: 'LicenseImport', additionalProperties: false },
);
export type LicenseImport = Static<typeof LicenseImport>;

const ImportedLicenses = Type.Object(
  {
    dry_run: Type.Boolean(),
    created: Type.Integer({ description: 'Licenses that were, or would be, created.' }),
    present: Type.Integer({
      description:
        'Keys that a license has already, or an earlier record; left unchanged, except for a later end.',
    }),
    failed: Type.Integer({ description: 'Records that cannot be imported.' }),
    problems: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'Counted from 1, the header included.', examples: [2] }),
        problem: Type.String({ examples: ['The key is empty.'] }),
      }),
      { description: 'The problems of the first 100 records that cannot be imported.' },
    ),
  },
  { $id: 'ImportedLicenses' },
);
export type ImportedLicenses = Static<typeof ImportedLicenses>;

export const importLicenses = operation({
  id: 'importLicenses',
  method: 'POST',
  path: 'licenses/import',
  summary: 'Import licenses with the keys of another system',
  description:
    'Keys that exist already are skipped, so that an import can be repeated. Use the command line for more than 5,000 licenses.',
  permission: 'licenses:issue',
  body: ref(LicenseImport),
  maxBodyBytes: IMPORT_BODY_BYTES,
  response: ref(ImportedLicenses, 'How many were imported, and what was not.'),
});
