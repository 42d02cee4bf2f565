import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { StoredEvent } from './admin-events.ts';
import { dateTime, nullable, nullableString, ref, text, uuid } from './schema.ts';

/** As many as the machine id of an activation has. */
const MAX_MACHINE_ID_LENGTH = 1_024;

const time = () => dateTime({ examples: ['2026-11-20T10:00:00.000Z'] });

const id = (description: string) =>
  uuid({ description, examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

export const InstallPath = Type.Object({ id: uuid() });

const InstallActivation = Type.Object({
  license_id: id('The license.'),
  activation_id: id('The activation.'),
  machine_id: nullableString({ examples: ['4c4c4544-0044'] }),
  is_active: Type.Boolean(),
  os_version: nullableString({ examples: ['macOS 15.1'] }),
  app_version: nullableString({ examples: ['2.4.0'] }),
  activated_at: time(),
  last_seen_at: time(),
});

export const Install = Type.Object(
  {
    id: id('The install.'),
    usage_sharing: Type.Boolean({ description: 'Whether its events are stored.' }),
    activations: Type.Array(InstallActivation, { description: 'Most recently seen first.' }),
  },
  { $id: 'Install', description: 'An installation of the application.' },
);
export type Install = Static<typeof Install>;

export const InstallEventsQuery = Type.Object(
  {
    cursor: Type.Optional(
      text({ description: 'The `next_cursor` of the page before.', maxLength: 100 }),
    ),
  },
  { additionalProperties: false },
);

export const InstallEvents = Type.Object(
  {
    items: Type.Array(ref(StoredEvent), {
      description: 'Newest first. A page may have few or none and still have a next one.',
    }),
    searched_to: Type.String({
      description: 'The earliest day that was read.',
      examples: ['2026-11-14'],
    }),
    next_cursor: nullableString({ description: 'Null when all stored days were read.' }),
  },
  { $id: 'InstallEvents' },
);
export type InstallEvents = Static<typeof InstallEvents>;

export const ReasonedChange = Type.Object({ reason }, { $id: 'ReasonedChange' });
export type ReasonedChange = Static<typeof ReasonedChange>;

/** An archive with events of the installs, which no operation erases. */
export const ArchiveLocation = Type.Object(
  {
    location: Type.String({
      description: 'A directory, or `s3://bucket/prefix`.',
      examples: ['/var/lib/latchkey-archive'],
    }),
    days: Type.Integer({ description: 'How many days were written to it.', examples: [90] }),
    first_day: Type.String({ examples: ['2026-01-01'] }),
    last_day: Type.String({ examples: ['2026-03-31'] }),
  },
  { $id: 'ArchiveLocation', description: 'A place to which events were archived.' },
);
export type ArchiveLocation = Static<typeof ArchiveLocation>;

export const archiveLocations = Type.Array(ref(ArchiveLocation), {
  description: 'Archives that may contain more of its events: search and change their files.',
});

export const InstallErased = Type.Object(
  { erased_events: Type.Integer({ examples: [120] }), archives: archiveLocations },
  { $id: 'InstallErased' },
);
export type InstallErased = Static<typeof InstallErased>;

const machineId = text({
  description:
    'The id of the machine as the application sends it, or its fingerprint as lists show it.',
  maxLength: MAX_MACHINE_ID_LENGTH,
  examples: ['4c4c4544-0044'],
});

export const MachineQuery = Type.Object({ id: machineId }, { additionalProperties: false });

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

export const Machine = Type.Object(
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

export const MachineErase = Type.Object({ id: machineId, reason }, { $id: 'MachineErase' });
export type MachineErase = Static<typeof MachineErase>;

export const MachineErased = Type.Object(
  { erased_days: Type.Integer({ examples: [30] }) },
  { $id: 'MachineErased' },
);
export type MachineErased = Static<typeof MachineErased>;

/** The named schemas of this file. */
export const installSchemas = [
  Install,
  InstallEvents,
  ReasonedChange,
  ArchiveLocation,
  InstallErased,
  Machine,
  MachineErase,
  MachineErased,
] as const;
