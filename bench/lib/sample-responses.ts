/** Has the length of a token of the example catalogue. */
const TOKEN = 'x'.repeat(750);

/** A response of validate with the usual size. */
export const VALIDATE_RESPONSE = {
  valid: true,
  expires_at: null,
  status: 'active',
  days_until_expiry: null,
  tier: 'personal',
  reason: null,
  entitlement: TOKEN,
};

/** A response of a trial grant with the usual size. */
export const TRIAL_RESPONSE = {
  license_key: 'LK-00000-00000-00000-00000-00000',
  activation_id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
  expires_at: '2030-01-01T00:00:00.000Z',
  features: ['history'],
  status: 'active',
  tier: 'trial',
  entitlement: TOKEN,
};
