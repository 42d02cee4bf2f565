import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { operation } from './operation.ts';
import { dateTime, nullable, nullableString, ref, text, uuid } from './schema.ts';

/** As many as the machine id of an activation has. */
const MAX_MACHINE_ID_LENGTH = 1_024;

const time = () => dateTime({ examples: ['2026-11-20T10:00:00.000Z'] });

const id = (description: string) =>
  uuid({ description, examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

const machineId = text({
  description:
    'The id of the machine as the application sends it, or its fingerprint as lists show it.',
  maxLength: MAX_MACHINE_ID_LENGTH,
  examples: ['4c4c4544-0044'],
});

const MachineQuery = Type.Object({ id: machineId }, { additionalProperties: false });

const MachineActivation = Type.Object({
  license_id: id('The license.'),
  activation_id: id('The activation.'),
  product_id: Type.String({ examples: ['personal'] }),
  trial: Type.Boolean(),
  status: Type.String({ description: 'The status of the license.', examples: ['active'] }),
  customer_email: nullableString({ examples: ['ada@example.com'] }),
  install_id: nullable(id('The install.')),
  is_active: Type.Boolean(),
  os_version: nullableString({ examples: ['macOS 15.1'] }),
  app_version: nullableString({ examples: ['2.4.0'] }),
  activated_at: time(),
  last_seen_at: time(),
});

const MachineDay = Type.Object({
  day: Type.String({ examples: ['2026-11-20'] }),
  beats: Type.Integer({ description: 'Heartbeats.', examples: [4] }),
  first_at: time(),
  last_at: time(),
  app_version: nullableString({ examples: ['2.4.0'] }),
  os_version: nullableString({ examples: ['macOS 15.1'] }),
});

const Machine = Type.Object(
  {
    id: Type.String({ examples: ['4c4c4544-0044'] }),
    activations: Type.Array(MachineActivation, {
      description: 'Active ones first, then the last seen; at most 200.',
    }),
    days: Type.Array(MachineDay, { description: 'The last 90 days of use, newest first.' }),
    first_day: nullableString({
      description: 'The first day of use; null: it sent no heartbeat.',
      examples: ['2026-03-01'],
    }),
  },
  { $id: 'Machine', description: 'A machine with its licenses and its use.' },
);
export type Machine = Static<typeof Machine>;

const MachineErase = Type.Object(
  { id: machineId, reason },
  { $id: 'MachineErase', additionalProperties: false },
);

const MachineErased = Type.Object(
  { erased_days: Type.Integer({ examples: [30] }) },
  { $id: 'MachineErased' },
);

export const showMachine = operation({
  id: 'showMachine',
  method: 'GET',
  path: 'machine',
  summary: 'Show a machine with its licenses and its use',
  description: 'An unknown machine is answered with empty lists.',
  permission: 'machines:read',
  query: MachineQuery,
  response: ref(Machine, 'The machine.'),
});

export const eraseMachine = operation({
  id: 'eraseMachine',
  method: 'POST',
  path: 'machine/erase',
  summary: 'Delete the days of use of a machine',
  description: 'Reports follow within minutes; activations stay with their licenses.',
  permission: 'machines:erase',
  body: ref(MachineErase),
  response: ref(MachineErased, 'The days were deleted.'),
});
