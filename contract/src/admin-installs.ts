import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { StoredEvent } from './admin-events.ts';
import { csvFile, jsonFile, operation } from './operation.ts';
import { dateTime, nullableString, ref, text, uuid } from './schema.ts';

const time = () => dateTime({ examples: ['2026-11-20T10:00:00.000Z'] });

const id = (description: string) =>
  uuid({ description, examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

const installPath = Type.Object({ id: uuid() });

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

const Install = Type.Object(
  {
    id: id('The install.'),
    usage_sharing: Type.Boolean({ description: 'Whether its events are stored.' }),
    activations: Type.Array(InstallActivation, { description: 'Most recently seen first.' }),
  },
  { $id: 'Install', description: 'An installation of the application.' },
);
export type Install = Static<typeof Install>;

const InstallEventsQuery = Type.Object(
  {
    cursor: Type.Optional(
      text({ description: 'The `next_cursor` of the page before.', maxLength: 100 }),
    ),
  },
  { additionalProperties: false },
);

const InstallEvents = Type.Object(
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

const ReasonedChange = Type.Object(
  { reason },
  { $id: 'ReasonedChange', additionalProperties: false },
);

/** An archive with events of the installs, which no operation erases. */
const ArchiveLocation = Type.Object(
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

const InstallErased = Type.Object(
  { erased_events: Type.Integer({ examples: [120] }), archives: archiveLocations },
  { $id: 'InstallErased' },
);

export const showInstall = operation({
  id: 'showInstall',
  method: 'GET',
  path: 'installs/:id',
  summary: 'Show an install and its activations',
  description: 'An install without an activation is answered too: it may have sent events.',
  permission: 'installs:read',
  params: installPath,
  response: ref(Install, 'The install.'),
});

export const listInstallEvents = operation({
  id: 'listInstallEvents',
  method: 'GET',
  path: 'installs/:id/events',
  summary: 'List the events of an install',
  description: 'A page covers seven days at most, so that it can be empty and have a next one.',
  permission: 'installs:read',
  params: installPath,
  query: InstallEventsQuery,
  response: ref(InstallEvents, 'One page, newest first.'),
});

export const exportInstallEvents = operation({
  id: 'exportInstallEvents',
  method: 'GET',
  path: 'installs/:id/events/export',
  summary: 'Export the events of an install as CSV',
  description: 'All stored events, day by day. The audit log records it.',
  permission: 'installs:export',
  params: installPath,
  response: csvFile('One line for each event, the oldest day first.'),
});

export const exportInstall = operation({
  id: 'exportInstall',
  method: 'POST',
  path: 'installs/:id/export',
  summary: 'Export the data of an install',
  description: 'Without license keys and fingerprints. The audit log records each export.',
  permission: 'installs:export',
  params: installPath,
  body: ref(ReasonedChange),
  response: jsonFile('Its activations and events.'),
});

export const eraseInstall = operation({
  id: 'eraseInstall',
  method: 'POST',
  path: 'installs/:id/erase',
  summary: 'Delete all events of an install',
  description:
    'Reports follow within minutes; activations stay with their licenses. Archived events stay in the files of `archives`. If it is interrupted, repeat it.',
  permission: 'installs:erase',
  params: installPath,
  body: ref(ReasonedChange),
  response: ref(InstallErased, 'The events were deleted.'),
});
