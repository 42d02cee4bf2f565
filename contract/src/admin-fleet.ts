import { type Static, Type } from 'typebox';

import { expectedVersion, reason } from './admin-list.ts';
import { Done } from './admin-session.ts';
import { collectionResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, integer, ref, text, uuid } from './schema.ts';

/** How many servers the list has at most. */
export const MAX_FLEET_SERVERS = 500;

export const MAX_FLEET_LABELS = 10;

/** In characters. */
export const MAX_FLEET_NAME_LENGTH = 100;
export const MAX_FLEET_LABEL_LENGTH = 40;

/** A host name has at most 253 characters. */
const MAX_ADDRESS_LENGTH = 260;

const name = {
  description: 'What operators call the server.',
  examples: ['web-1'],
};

const labels = {
  description: 'Groups of the server.',
  examples: [['web', 'berlin']],
};

const FleetServer = Type.Object(
  {
    id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    name: Type.String(name),
    address: Type.String({
      description:
        'Host name or IPv4 address of its agent, and the port unless that is 4096; behind a web server its path, and the port unless that is 443.',
      examples: ['web-1.example.com'],
    }),
    labels: Type.Array(Type.String(), labels),
    created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    version: Type.Integer({ examples: [3] }),
  },
  { $id: 'FleetServer', description: 'A server watched by an agent.' },
);
export type FleetServer = Static<typeof FleetServer>;

export const fleetServers = collectionResource({
  id: 'FleetServers',
  name: 'fleet_server',
  title: 'fleet servers',
  path: 'fleet-servers',
  item: FleetServer,
  permissions: { read: 'fleet-servers:read', export: 'fleet-servers:export' },
  columns: ['id', 'name', 'address', 'labels', 'created_at'],
  separator: ',',
});

/** The path of an operation on one server. */
const FleetServerPath = Type.Object({ id: uuid() });

const entry = {
  name: text({ ...name, minLength: 1, maxLength: MAX_FLEET_NAME_LENGTH }),
  address: text({
    description:
      'Host name or IPv4 address, such as `web-1.example.com` or `10.0.0.7:4100`, or `db-1.example.com/latchkey` behind a web server. Without a scheme, a query or a password. The port is 4096 by default, and 443 with a path.',
    minLength: 1,
    maxLength: MAX_ADDRESS_LENGTH,
    examples: ['web-1.example.com'],
  }),
  labels: Type.Array(text({ minLength: 1, maxLength: MAX_FLEET_LABEL_LENGTH }), {
    ...labels,
    maxItems: MAX_FLEET_LABELS,
  }),
};

const FleetServerEntry = Type.Object(entry, {
  $id: 'FleetServerEntry',
  additionalProperties: false,
});
export type FleetServerEntry = Static<typeof FleetServerEntry>;

const FleetServerCreate = Type.Object(
  { ...entry, reason: Type.Optional(reason) },
  { $id: 'FleetServerCreate', additionalProperties: false },
);

export const addFleetServer = operation({
  id: 'addFleetServer',
  method: 'POST',
  path: 'fleet-servers',
  summary: 'Add a server',
  description: 'Consoles that are open connect to it after their page is loaded again.',
  permission: 'fleet-servers:change',
  body: ref(FleetServerCreate),
  response: ref(FleetServer, 'The server.'),
  errors: ['not_possible'],
});

const FleetServerUpdate = Type.Object(
  { ...entry, expected_version: expectedVersion, reason: Type.Optional(reason) },
  { $id: 'FleetServerUpdate', additionalProperties: false },
);

export const updateFleetServer = operation({
  id: 'updateFleetServer',
  method: 'POST',
  path: 'fleet-servers/:id/update',
  summary: 'Change the name, the address and the labels of a server',
  permission: 'fleet-servers:change',
  params: FleetServerPath,
  body: ref(FleetServerUpdate),
  response: ref(FleetServer, 'The changed server.'),
  errors: ['not_found', 'conflict', 'not_possible'],
});

const FleetServerRemoval = Type.Object(
  { expected_version: expectedVersion, reason: Type.Optional(reason) },
  { $id: 'FleetServerRemoval', additionalProperties: false },
);

export const removeFleetServer = operation({
  id: 'removeFleetServer',
  method: 'POST',
  path: 'fleet-servers/:id/remove',
  summary: 'Remove a server from the list',
  permission: 'fleet-servers:change',
  params: FleetServerPath,
  body: ref(FleetServerRemoval),
  response: ref(Done, 'The server is not listed any more; its agent is unchanged.'),
  errors: ['not_found', 'conflict'],
});

const FleetImport = Type.Object(
  {
    servers: Type.Array(ref(FleetServerEntry), {
      description: 'One whose address is listed replaces the name and the labels.',
      minItems: 1,
      maxItems: MAX_FLEET_SERVERS,
    }),
    reason: Type.Optional(reason),
  },
  { $id: 'FleetImport', additionalProperties: false },
);

const FleetImported = Type.Object(
  {
    added: integer({ minimum: 0, maximum: MAX_FLEET_SERVERS, examples: [12] }),
    changed: integer({
      description: 'Servers that were listed with another name or other labels.',
      minimum: 0,
      maximum: MAX_FLEET_SERVERS,
      examples: [1],
    }),
    unchanged: integer({ minimum: 0, maximum: MAX_FLEET_SERVERS, examples: [3] }),
  },
  { $id: 'FleetImported' },
);
export type FleetImported = Static<typeof FleetImported>;

/** 500 servers with long names take a third of it. */
const MAX_IMPORT_BYTES = 512 * 1_024;

export const importFleetServers = operation({
  id: 'importFleetServers',
  method: 'POST',
  path: 'fleet-servers/import',
  summary: 'Add several servers, or none',
  description:
    'A server whose address is listed gets the name and the labels of the import. If one entry is invalid, nothing changes.',
  permission: 'fleet-servers:change',
  body: ref(FleetImport),
  maxBodyBytes: MAX_IMPORT_BYTES,
  response: ref(FleetImported, 'How the list changed.'),
  errors: ['not_possible'],
});
