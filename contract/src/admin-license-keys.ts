import { type Static, Type } from 'typebox';

import { LicenseReason } from './admin-license-changes.ts';
import { AdminLicenseDetails } from './admin-license-details.ts';
import { reason } from './admin-list.ts';
import { based, licenseKey, licensePath, mailOutcome } from './license-fields.ts';
import { operation } from './operation.ts';
import { nullable, ref } from './schema.ts';

const LicenseRekey = Type.Object(
  {
    ...based,
    keep_machines: Type.Boolean({
      description: 'Whether active machines stay active; otherwise each must activate again.',
    }),
    send_mail: Type.Boolean({ description: 'Whether to e-mail the new key to the customer.' }),
  },
  { $id: 'LicenseRekey', additionalProperties: false },
);
export type LicenseRekey = Static<typeof LicenseRekey>;

const RekeyedLicense = Type.Object(
  {
    license: ref(AdminLicenseDetails),
    license_key: licenseKey,
    machines: Type.Integer({ description: 'The machines that were kept or deactivated.' }),
    mail: mailOutcome,
  },
  { $id: 'RekeyedLicense' },
);
export type RekeyedLicense = Static<typeof RekeyedLicense>;

const LicenseReveal = Type.Object(
  { reason: Type.Optional(nullable(reason)) },
  { $id: 'LicenseReveal', additionalProperties: false },
);

const LicenseMailOutcome = Type.Object({ mail: mailOutcome }, { $id: 'LicenseMailOutcome' });

const RevealedLicenseKey = Type.Object({ license_key: licenseKey }, { $id: 'RevealedLicenseKey' });
export type RevealedLicenseKey = Static<typeof RevealedLicenseKey>;

export const revealLicenseKey = operation({
  id: 'revealLicenseKey',
  method: 'POST',
  path: 'licenses/:id/reveal',
  summary: 'Reveal the key of a license',
  description: 'The audit log records it.',
  permission: 'licenses:reveal',
  params: licensePath,
  body: ref(LicenseReveal),
  response: ref(RevealedLicenseKey, 'The key.'),
  errors: ['license_not_found'],
});

export const rekeyLicense = operation({
  id: 'rekeyLicense',
  method: 'POST',
  path: 'licenses/:id/rekey',
  summary: 'Replace the key of a license',
  description:
    'The old key is invalid at once. Machines that are kept receive the new key; offline machines continue until their token expires.',
  permission: 'licenses:rekey',
  params: licensePath,
  body: ref(LicenseRekey),
  response: ref(RekeyedLicense, 'The license and its new key.'),
  errors: ['license_not_found', 'conflict'],
});

export const resendLicenseKey = operation({
  id: 'resendLicenseKey',
  method: 'POST',
  path: 'licenses/:id/resend',
  summary: 'E-mail its key to the customer of a license again',
  permission: 'licenses:resend',
  params: licensePath,
  body: ref(LicenseReason),
  response: ref(LicenseMailOutcome, 'Whether the e-mail is queued, or why not.'),
  errors: ['license_not_found'],
});
