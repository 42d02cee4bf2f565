/** The list of servers watched by agents, for operators. */
import {
  Done,
  FleetImport,
  FleetImported,
  FleetServer,
  FleetServerCreate,
  FleetServerPath,
  FleetServerRemoval,
  FleetServers,
  FleetServerUpdate,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerCsv, csvAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { ADMIN, operatorOf, VIEWER, VIEWER_FRESH } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { addServer, editServer, importServers, removeServer } from './change-servers.ts';
import { exportServers, listServers, viewServer, type FleetDependencies } from './list-servers.ts';

const SERVERS = '/api/v1/admin/fleet-servers';
const SERVER = `${SERVERS}/:id`;
const TAGS = ['admin: fleet'];

/** 500 servers with long names take a third of it. */
const IMPORT_LIMIT_BYTES = 512 * 1024;

const COLUMNS: CsvColumns<FleetServer> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  address: ({ address }) => address,
  labels: ({ labels }) => labels.join(','),
  created_at: (server) => server.created_at,
};

export function registerFleetRoutes(app: App, deps: FleetDependencies): void {
  app.get(SERVERS, { config: VIEWER, schema: listOperation }, async () => ({
    items: (await listServers(deps)).map(viewServer),
  }));
  app.get(
    `${SERVERS}/export`,
    { config: VIEWER_FRESH, schema: exportOperation },
    async (request, reply) => {
      const servers = await exportServers(deps, operatorOf(request).actor);
      return answerCsv(reply, 'fleet-servers', COLUMNS, servers.map(viewServer));
    },
  );
  registerChanges(app, deps);
}

function registerChanges(app: App, deps: FleetDependencies): void {
  app.post(SERVERS, { config: ADMIN, schema: addOperation }, (request) => {
    const { name, address, labels, reason = null } = request.body;
    const change = { actor: operatorOf(request).actor, reason };
    return addServer(deps, { name, address, labels }, change).then(viewServer);
  });
  app.post(
    `${SERVERS}/import`,
    { config: ADMIN, schema: importOperation, bodyLimit: IMPORT_LIMIT_BYTES },
    async (request) => {
      const { servers, reason = null } = request.body;
      const change = { actor: operatorOf(request).actor, reason };
      const { added, changed, unchanged } = await importServers(deps, servers, change);
      return { added: added.length, changed: changed.length, unchanged };
    },
  );
  app.post(`${SERVER}/update`, { config: ADMIN, schema: updateOperation }, async (request) => {
    const { name, address, labels, expected_version: expectedVersion } = request.body;
    const { reason = null } = request.body;
    const { actor } = operatorOf(request);
    const change = { idOrAddress: request.params.id, actor, reason, expectedVersion };
    return viewServer(await editServer(deps, change, () => ({ name, address, labels })));
  });
  app.post(`${SERVER}/remove`, { config: ADMIN, schema: removeOperation }, async (request) => {
    const { expected_version: expectedVersion, reason = null } = request.body;
    const { actor } = operatorOf(request);
    const change = { idOrAddress: request.params.id, actor, reason, expectedVersion };
    await removeServer(deps, change);
    return DONE;
  });
}

const listOperation = {
  operationId: 'listFleetServers',
  tags: TAGS,
  summary: 'List the servers watched by agents',
  description: 'The fleet page of the console connects to them from the browser.',
  response: { 200: ref(FleetServers, 'All servers.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportFleetServers',
  tags: TAGS,
  summary: 'Export the servers watched by agents as CSV',
  description: 'The audit log records it.',
  response: csvAnswer('One line for each server.'),
} satisfies FastifySchema;

const addOperation = {
  operationId: 'addFleetServer',
  tags: TAGS,
  summary: 'Add a server',
  description: 'Consoles that are open connect to it after their page is loaded again.',
  body: ref(FleetServerCreate),
  response: { 200: ref(FleetServer, 'The server.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const importOperation = {
  operationId: 'importFleetServers',
  tags: TAGS,
  summary: 'Add several servers, or none',
  description:
    'A server whose address is listed gets the name and the labels of the import. If one entry is invalid, nothing changes.',
  body: ref(FleetImport),
  response: { 200: ref(FleetImported, 'How the list changed.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const updateOperation = {
  operationId: 'updateFleetServer',
  tags: TAGS,
  summary: 'Change the name, the address and the labels of a server',
  params: FleetServerPath,
  body: ref(FleetServerUpdate),
  response: { 200: ref(FleetServer, 'The changed server.') },
  problems: ['not_found', 'conflict', 'not_possible'],
} satisfies FastifySchema;

const removeOperation = {
  operationId: 'removeFleetServer',
  tags: TAGS,
  summary: 'Remove a server from the list',
  params: FleetServerPath,
  body: ref(FleetServerRemoval),
  response: { 200: ref(Done, 'The server is not listed any more; its agent is unchanged.') },
  problems: ['not_found', 'conflict'],
} satisfies FastifySchema;
