import { type Static, Type } from 'typebox';
import {
  dateTime,
  freeObject,
  nullable,
  nullableString,
  oneOf,
  ref,
  text,
  uuid,
} from './schema.ts';

/** The reason of a validation. */
export const VALIDATION_TRIGGERS = [
  'startup',
  'scheduled',
  'foreground',
  'wake',
  'reconnect',
  'manual',
] as const;

const licenseKey = text({
  description: 'The license key as the customer received it; case, spaces and hyphens are ignored.',
  examples: ['LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WVR0'],
});
export const machineFingerprint = freeObject({
  description:
    'Values that identify the machine, under any keys: at most 32 keys, three levels, 8 KiB. Stored only as keyed hashes.',
  examples: [{ machine_id: '4c4c4544-0044', board_serial: 'CN7016355A', os_version: '15.1' }],
});
export const installId = Type.Optional(
  nullable(
    uuid({
      description: 'The id of the installation of the application, created by the client.',
      examples: ['8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11'],
    }),
  ),
);
const activationId = uuid({
  description: 'The activation id that `activate` returned.',
  examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
});
/** The maximum length of a machine's identifier, in characters. */
export const MAX_MACHINE_ID_LENGTH = 1024;

const machineId = text({
  maxLength: MAX_MACHINE_ID_LENGTH,
  description: 'The identifier of the machine, as in its fingerprint.',
  examples: ['4c4c4544-0044'],
});
const expiresAt = nullable(
  dateTime({
    description: 'The end of the license; null for a perpetual one.',
    examples: ['2027-11-20T10:00:00.000Z'],
  }),
);
export const features = Type.Optional(
  Type.Array(Type.String(), {
    default: [],
    description: 'The features of the license.',
    examples: [['history', 'gpu']],
  }),
);
const tier = Type.Optional(nullableString({ examples: ['personal'] }));
const updatesUntil = Type.Optional(
  dateTime({
    description:
      'The end of the time in which the license gets new versions; absent: it gets all. The license itself goes on.',
    examples: ['2027-11-20T10:00:00.000Z'],
  }),
);
export const entitlement = Type.Optional(
  nullableString({
    description:
      'A signed statement (JWS, Ed25519) that the client can verify offline; null without one.',
  }),
);

export const LicenseActivate = Type.Object(
  {
    license_key: licenseKey,
    machine_fingerprint: machineFingerprint,
    install_id: installId,
  },
  { $id: 'LicenseActivate' },
);
export type LicenseActivate = Static<typeof LicenseActivate>;

export const LicenseActivateResponse = Type.Object(
  {
    activation_id: activationId,
    expires_at: expiresAt,
    features,
    tier,
    status: Type.Optional(Type.String({ default: 'active', examples: ['active'] })),
    updates_until: updatesUntil,
    entitlement,
  },
  { $id: 'LicenseActivateResponse' },
);
export type LicenseActivateResponse = Static<typeof LicenseActivateResponse>;

/** The maximum length of a request, in characters: the largest fingerprint, encoded, and text around it. */
export const MAX_AIRGAP_REQUEST_LENGTH = 20_000;

export const LicenseAirgapActivate = Type.Object(
  {
    license_key: licenseKey,
    request: text({
      maxLength: MAX_AIRGAP_REQUEST_LENGTH,
      description:
        'The text that the software on the machine shows, `LKR1.<payload>.<check>`. The payload is base64url of a JSON ' +
        'object with `product` (the id), `machine_fingerprint`, `nonce` (16 to 64 characters of base64url, random) and ' +
        '`name` (what the owner calls the machine, or null); the check is the first 10 characters of the SHA-256 of all ' +
        'before it, in base64url. Spaces, line breaks and text around it are ignored.',
      examples: ['LKR1.eyJwcm9kdWN0IjoicGVyc29uYWwi…In0.T2oAYEwdoA'],
    }),
  },
  { $id: 'LicenseAirgapActivate' },
);
export type LicenseAirgapActivate = Static<typeof LicenseAirgapActivate>;

export const LicenseAirgapActivateResponse = Type.Object(
  {
    activation_id: activationId,
    machine_name: nullableString({
      description: 'The name of the machine in the request.',
      examples: ['Lab PC 3'],
    }),
    expires_at: expiresAt,
    features,
    tier,
    status: Type.String({ examples: ['active'] }),
    updates_until: updatesUntil,
    entitlement: Type.String({
      description:
        'A signed statement (JWS, Ed25519) for this machine alone. It repeats the `nonce` of the request. It is valid until ' +
        'its `exp`: nothing ends it earlier, not even a refund.',
    }),
    entitlement_expires_at: dateTime({
      description: 'The end of the entitlement. Another request then renews it.',
      examples: ['2027-02-18T10:00:00.000Z'],
    }),
  },
  { $id: 'LicenseAirgapActivateResponse' },
);
export type LicenseAirgapActivateResponse = Static<typeof LicenseAirgapActivateResponse>;

export const LicenseValidate = Type.Object(
  {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
    install_id: installId,
    usage_sharing: Type.Optional(
      Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description: 'Whether the user agreed to share usage; false stops events of this install.',
      }),
    ),
    trigger: Type.Optional(
      nullable(oneOf(VALIDATION_TRIGGERS, { description: 'The reason of this validation.' })),
    ),
  },
  { $id: 'LicenseValidate' },
);
export type LicenseValidate = Static<typeof LicenseValidate>;

export const LicenseValidateResponse = Type.Object(
  {
    valid: Type.Boolean(),
    expires_at: expiresAt,
    days_until_expiry: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Days left, rounded up; 0 once expired, null for a perpetual license.',
        examples: [365],
      }),
    ),
    tier,
    status: Type.String({
      description: 'The status of the license, or `invalid` for an unknown key.',
      examples: ['active'],
    }),
    reason: Type.Optional(
      nullableString({
        description: 'The reason why `valid` is false: a stable code.',
        examples: ['license_expired'],
      }),
    ),
    updates_until: updatesUntil,
    entitlement,
  },
  { $id: 'LicenseValidateResponse' },
);
export type LicenseValidateResponse = Static<typeof LicenseValidateResponse>;

export const LicenseDeactivate = Type.Object(
  {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: machineId,
  },
  { $id: 'LicenseDeactivate' },
);
export type LicenseDeactivate = Static<typeof LicenseDeactivate>;

export const LicenseDeactivateResponse = Type.Object(
  {
    success: Type.Boolean(),
    message: Type.String({ examples: ['The activation was deactivated.'] }),
    activation_id: activationId,
  },
  { $id: 'LicenseDeactivateResponse' },
);
export type LicenseDeactivateResponse = Static<typeof LicenseDeactivateResponse>;

export const MachineInfo = Type.Object(
  {
    machine_id: Type.String({ examples: ['4c4c4544-0044'] }),
    os_version: nullableString({ examples: ['15.1'] }),
    app_version: nullableString({ examples: ['2.4.0'] }),
    last_validated_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    validation_count: Type.Integer({ examples: [12] }),
    is_active: Type.Boolean(),
    activation_id: activationId,
    activated_at: dateTime({ examples: ['2026-01-07T08:30:00.000Z'] }),
  },
  { $id: 'MachineInfo' },
);
export type MachineInfo = Static<typeof MachineInfo>;

const checkedLicense = {
  license_key: Type.Optional(
    nullableString({ description: 'Shown for a limited time after the license was created.' }),
  ),
  status: Type.String({
    description: '`pending` until a license exists, then its status.',
    examples: ['active'],
  }),
  created_at: Type.Optional(nullable(dateTime())),
  expires_at: Type.Optional(nullable(dateTime())),
  product_type: Type.Optional(nullableString({ examples: ['personal'] })),
  renewed: Type.Optional(
    Type.Boolean({
      description:
        'Present if the checkout renewed a license that existed: its key stays the same, and is not shown.',
    }),
  ),
};

export const CheckedLicense = Type.Object(checkedLicense, { $id: 'CheckedLicense' });
export type CheckedLicense = Static<typeof CheckedLicense>;

export const LicenseCheckResponse = Type.Object(
  {
    ...checkedLicense,
    licenses: Type.Optional(
      Type.Array(ref(CheckedLicense), {
        description: 'Every license of the transaction; the first one is also in the fields above.',
      }),
    ),
  },
  { $id: 'LicenseCheckResponse' },
);
export type LicenseCheckResponse = Static<typeof LicenseCheckResponse>;

/** The path parameter of one license. */
export const LicenseKeyPath = Type.Object({ license_key: licenseKey });

/** The path parameter of one checkout. */
export const TransactionPath = Type.Object({
  transaction_id: text({
    description: "The payment provider's identifier of the checkout.",
    examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
  }),
});
