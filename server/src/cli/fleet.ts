/** `latchkey fleet`: the servers that operators watch on the fleet page of the console. */
import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';

import { readServerLines, type ServerLine } from '@latchkey/contract/fleet-lines';
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import { InvalidRequestError } from '#server/errors.ts';
import {
  addServer,
  editServer,
  importServers,
  removeServer,
  type FleetChange,
} from '#server/features/fleet/change-servers.ts';
import { listServers, viewServer } from '#server/features/fleet/list-servers.ts';
import type { ServerRecord } from '#server/features/fleet/queries.ts';
import { parseAddress } from '#server/features/fleet/rules/address.ts';
import type { ImportPlan } from '#server/features/fleet/rules/plan-import.ts';
import { countOf } from '#server/lib/text.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { reasonOption, shortText } from './options.ts';
import { printNote } from './output.ts';
import { anyText, argument, option } from './parameters.ts';
import { type Cell, formatFields, formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const serverArgument = argument('<server>', 'id or address of the server', shortText);

const addressSyntax =
  'host name or IPv4 address of its agent, with a port other than 4096; behind a web server with its path';

function address(text: string): string {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  throw new InvalidArgumentError(`${parsed.problem}.`);
}

/** `""` means no labels. */
function labels(text: string): string[] {
  return text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

const listCommand = contextCommand({
  name: 'list',
  description: 'List the servers that operators watch on the fleet page, by name.',
  examples: { 'fleet list': 'Servers, the addresses of their agents and their labels' },
  async run(context) {
    const servers = await listServers(context);
    const text = formatRows(servers, 'No servers. Add one with latchkey fleet add.', [
      ['id', (server) => server.id],
      ['name', (server) => server.name],
      ['address', (server) => server.address],
      ['labels', (server) => server.labels.join(', ')],
    ]);
    return { json: servers.map(viewServer), text };
  },
});

const addCommand = contextCommand({
  name: 'add',
  description:
    'Add a server that an agent watches. Allow the console on that server with latchkey-agent origins add.',
  examples: {
    'fleet add web-1.example.com': 'An agent at port 4096',
    'fleet add db-1.example.com/latchkey': 'An agent behind a web server',
    'fleet add 10.0.0.7:4100 --name "Office NAS" --labels storage,office':
      'Another port, with a name and groups',
  },
  parameters: [
    argument('<address>', addressSyntax, address),
    option('--name <text>', 'name of the server (default: the address)', shortText),
    option('--labels <labels>', 'groups of the server, separated by commas', labels),
    reasonOption,
  ],
  async run(context, { address: of, name, labels: groups, reason }) {
    const entry = { address: of, name: name ?? of, labels: groups ?? [] };
    const server = await addServer(context, entry, { actor: currentActor(), reason });
    return { json: viewServer(server), text: formatFields(toFields(server)) };
  },
});

const editCommand = contextCommand({
  name: 'edit',
  description: 'Change the name, the address or the labels of a server.',
  examples: {
    'fleet edit 10.0.0.7:4100 --address 10.0.0.8:4100': 'After the server moved',
    'fleet edit web-1.example.com --labels ""': 'Remove a server from its groups',
  },
  parameters: [
    serverArgument,
    option('--name <text>', 'name of the server', shortText),
    option('--address <address>', addressSyntax, address),
    option('--labels <labels>', 'groups of the server, separated by commas; "" none', labels),
    reasonOption,
  ],
  async run(context, { server: idOrAddress, name, address: moved, labels: groups, reason }) {
    if (name === null && moved === null && groups === null) {
      throw usageError('Give --name, --address or --labels.');
    }
    const change = { idOrAddress, reason, actor: currentActor() };
    const server = await editServer(context, change, (before) => ({
      name: name ?? before.name,
      address: moved ?? before.address,
      labels: groups ?? before.labels,
    }));
    return { json: viewServer(server), text: formatFields(toFields(server)) };
  },
});

const removeCommand = contextCommand({
  name: 'remove',
  description: 'Remove a server from the list. Its agent is not changed.',
  examples: { 'fleet remove web-1.example.com': 'When a server is gone' },
  parameters: [serverArgument, reasonOption],
  async run(context, { server: idOrAddress, reason }) {
    const server = await removeServer(context, { idOrAddress, reason, actor: currentActor() });
    return {
      json: viewServer(server),
      text: `Removed ${server.name} (${server.address}).`,
    };
  },
});

const importCommand = contextCommand({
  name: 'import',
  description:
    'Add several servers, or none if a line is invalid. A server whose address is listed gets the name and the labels of the file. A line has a name, an address and labels separated by commas; tabs separate them if a name contains spaces.',
  examples: {
    'fleet import servers.txt': 'Lines such as: web-1 web-1.example.com web,berlin',
    'fleet import - < servers.txt': 'From the output of another program',
  },
  parameters: [
    argument('<file>', 'file with a server on each line; - reads standard input', anyText),
    reasonOption,
  ],
  async run(context, { file, reason }) {
    const { servers, problems } = readServerLines(await readSource(file));
    for (const { line, problem } of problems) printNote(`line ${line}: ${problem}.`);
    if (problems.length > 0) throw failed('Nothing was imported.');
    if (servers.length === 0) throw failed('The file has no servers.');
    const change = { actor: currentActor(), reason };
    const { added, changed, unchanged } = await importLines(context, servers, change);
    const json = { added: added.length, changed: changed.length, unchanged };
    const text = `Added ${countOf(added.length, 'server')}, changed ${changed.length}, unchanged ${unchanged}.`;
    return { json, text };
  },
});

/** Imports lines, and prints the number of an invalid one. */
async function importLines(
  context: Context,
  servers: readonly ServerLine[],
  change: FleetChange,
): Promise<ImportPlan> {
  try {
    return await importServers(context, servers, change);
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    for (const { loc, msg } of error.items) {
      printNote(`line ${servers[Number(loc[2])]?.line ?? 0}: ${msg}.`);
    }
    throw failed('Nothing was imported.', { cause: error });
  }
}

async function readSource(path: string): Promise<string> {
  if (path === '-') return readText(commandProcess().stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw failed('The file does not exist.', { cause: error });
    throw error;
  }
}

function toFields(server: ServerRecord): (readonly [string, Cell])[] {
  return [
    ['id', server.id],
    ['name', server.name],
    ['address', server.address],
    ['labels', server.labels.join(', ')],
  ];
}

export const fleetCommand = commandGroup(
  'fleet',
  'Manage the servers that operators watch on the fleet page.',
  [listCommand, addCommand, editCommand, removeCommand, importCommand],
);
