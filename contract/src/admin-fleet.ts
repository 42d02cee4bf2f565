import { type Static, Type } from 'typebox';

import { expectedVersion, reason } from './admin-list.ts';
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

export const FleetServer = Type.Object(
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

export const FleetServers = Type.Object(
  {
    items: Type.Array(ref(FleetServer), {
      description: `All servers, by name: at most ${MAX_FLEET_SERVERS}.`,
    }),
  },
  { $id: 'FleetServers' },
);
export type FleetServers = Static<typeof FleetServers>;

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

export const FleetServerEntry = Type.Object(entry, { $id: 'FleetServerEntry' });
export type FleetServerEntry = Static<typeof FleetServerEntry>;

export const FleetServerCreate = Type.Object(
  { ...entry, reason: Type.Optional(reason) },
  { $id: 'FleetServerCreate' },
);
export type FleetServerCreate = Static<typeof FleetServerCreate>;

export const FleetServerUpdate = Type.Object(
  { ...entry, expected_version: expectedVersion, reason: Type.Optional(reason) },
  { $id: 'FleetServerUpdate' },
);
export type FleetServerUpdate = Static<typeof FleetServerUpdate>;

export const FleetServerRemoval = Type.Object(
  { expected_version: expectedVersion, reason: Type.Optional(reason) },
  { $id: 'FleetServerRemoval' },
);

export const FleetImport = Type.Object(
  {
    servers: Type.Array(ref(FleetServerEntry), {
      description: 'One whose address is listed replaces the name and the labels.',
      minItems: 1,
      maxItems: MAX_FLEET_SERVERS,
    }),
    reason: Type.Optional(reason),
  },
  { $id: 'FleetImport' },
);

export const FleetImported = Type.Object(
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

/** The path of an operation on one server. */
export const FleetServerPath = Type.Object({ id: uuid() });

export const fleetSchemas = [
  FleetServer,
  FleetServers,
  FleetServerEntry,
  FleetServerCreate,
  FleetServerUpdate,
  FleetServerRemoval,
  FleetImport,
  FleetImported,
] as const;
