import { type Static, Type } from 'typebox';
import { entitlement, features, installId, machineFingerprint } from './licenses.ts';
import { dateTime, uuid } from './schema.ts';

export const TrialStartRequest = Type.Object(
  { machine_fingerprint: machineFingerprint, install_id: installId },
  { $id: 'TrialStartRequest' },
);
export type TrialStartRequest = Static<typeof TrialStartRequest>;

export const TrialStartResponse = Type.Object(
  {
    license_key: Type.String({ examples: ['LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WVR0'] }),
    activation_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    expires_at: dateTime({
      description: 'Seven days after the trial was granted.',
      examples: ['2026-11-27T10:00:00.000Z'],
    }),
    features,
    status: Type.Optional(Type.String({ default: 'active', examples: ['active'] })),
    tier: Type.Optional(Type.String({ default: 'trial', examples: ['trial'] })),
    entitlement,
  },
  { $id: 'TrialStartResponse' },
);
export type TrialStartResponse = Static<typeof TrialStartResponse>;
