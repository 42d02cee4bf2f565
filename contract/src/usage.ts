import { type Static, Type } from 'typebox';
import { machineFingerprint } from './licenses.ts';
import { nullable, text } from './schema.ts';

export const HeartbeatRequest = Type.Object(
  {
    machine_id: text({ description: 'Unique machine identifier.', examples: ['4c4c4544-0044'] }),
    machine_fingerprint: machineFingerprint,
    app_version: Type.Optional(nullable(text({ examples: ['2.4.0'] }))),
    os_version: Type.Optional(nullable(text({ examples: ['15.1'] }))),
  },
  { $id: 'HeartbeatRequest' },
);
export type HeartbeatRequest = Static<typeof HeartbeatRequest>;

export const HeartbeatResponse = Type.Object(
  {
    success: Type.Boolean(),
    message: Type.String({
      description: '`created` the first time on a UTC day, `updated` after.',
      examples: ['created'],
    }),
  },
  { $id: 'HeartbeatResponse' },
);
export type HeartbeatResponse = Static<typeof HeartbeatResponse>;
