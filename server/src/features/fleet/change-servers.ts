import { MAX_FLEET_SERVERS } from '@latchkey/contract';
import type { PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import { conflict, invalidRequest, noSuch, notPossible } from '#server/errors.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import { viewServer, type FleetDependencies } from './list-servers.ts';
import {
  deleteServer,
  insertServers,
  listServerRecords,
  lockServers,
  updateServers,
  type ServerRecord,
} from './queries.ts';
import { parseAddress } from './rules/address.ts';
import { readEntry, type EntryProblem, type ServerEntry } from './rules/entry.ts';
import { findRepeated, planImport, type ImportPlan } from './rules/plan-import.ts';

/** Actor and reason of a change, for the audit log. */
export interface FleetChange {
  readonly actor: string;
  readonly reason: string | null;
}

/** A change of one server. */
export interface ServerChange extends FleetChange {
  readonly idOrAddress: string;
  /** The version that the actor saw; default: any. */
  readonly expectedVersion?: number;
}

/**
 * Adds a server to the list.
 * @throws InvalidRequestError (422) for an invalid field, notPossible (409) for a listed address or a full list
 */
export async function addServer(
  deps: FleetDependencies,
  entry: ServerEntry,
  change: FleetChange,
): Promise<ServerRecord> {
  const server = newServer(requireEntry(entry), deps.clock.now());
  await changeList(deps, async (client, listed) => {
    requireFreeAddress(listed, server);
    requireCapacity(listed.length + 1);
    await insertServers(client, [server]);
    return describe('fleet_server.add', server, change);
  });
  return server;
}

/**
 * Changes the name, the address and the labels of a server.
 * @throws InvalidRequestError (422), noSuch (404), conflict (409), notPossible (409) for a listed address
 */
export async function editServer(
  deps: FleetDependencies,
  change: ServerChange,
  edit: (server: ServerEntry) => ServerEntry,
): Promise<ServerRecord> {
  return changeList(deps, async (client, listed) => {
    const server = requireServer(listed, change);
    const edited = { ...server, ...requireEntry(edit(server)), version: server.version + 1 };
    requireFreeAddress(listed, edited);
    await updateServers(client, [edited]);
    return { ...describe('fleet_server.edit', edited, change), result: edited };
  });
}

/** Removes a server from the list. @throws noSuch (404), conflict (409) */
export async function removeServer(
  deps: FleetDependencies,
  change: ServerChange,
): Promise<ServerRecord> {
  return changeList(deps, async (client, listed) => {
    const server = requireServer(listed, change);
    await deleteServer(client, server.id);
    return describe('fleet_server.remove', server, change);
  });
}

/**
 * Adds several servers, or none. One whose address is listed gets the name and the labels of the import.
 * @throws InvalidRequestError (422) for an invalid or repeated entry, notPossible (409) for too many servers
 */
export async function importServers(
  deps: FleetDependencies,
  entries: readonly ServerEntry[],
  change: FleetChange,
): Promise<ImportPlan> {
  const valid = requireEntries(entries);
  return changeList(deps, async (client, listed, now) => {
    const plan = planImport(listed, valid);
    requireCapacity(listed.length + plan.added.length);
    const changed = new Map(plan.changed.map((entry) => [entry.address, entry]));
    const added = plan.added.map((entry) => newServer(entry, now));
    if (added.length > 0) await insertServers(client, added);
    if (changed.size > 0) await updateServers(client, applyChanges(listed, changed));
    const { unchanged } = plan;
    const details = { added: added.length, changed: changed.size, unchanged };
    const entry = { ...change, action: 'fleet_server.import', subjectId: 'fleet_servers', details };
    return { entry, result: plan };
  });
}

function applyChanges(
  listed: readonly ServerRecord[],
  changed: ReadonlyMap<string, ServerEntry>,
): ServerRecord[] {
  return listed.flatMap((server) => {
    const entry = changed.get(server.address);
    return entry === undefined ? [] : [{ ...server, ...entry }];
  });
}

function newServer(entry: ServerEntry, now: Date): ServerRecord {
  return { id: makeUuid(), ...entry, createdAt: now, version: 1 };
}

/** What a change returns, and its audit entry. */
interface Changed<Result> {
  readonly entry: Omit<AuditEntry, 'occurredAt'>;
  readonly result: Result;
}

function describe(
  action: string,
  server: ServerRecord,
  { actor, reason }: FleetChange,
): Changed<ServerRecord> {
  const details = {
    name: server.name,
    address: server.address,
    labels: server.labels.join(', '),
  };
  return { entry: { actor, reason, action, subjectId: server.id, details }, result: server };
}

/** Runs a change alone, with the list as it is, and records it. */
async function changeList<Result>(
  deps: FleetDependencies,
  apply: (
    client: PoolClient,
    listed: readonly ServerRecord[],
    now: Date,
  ) => Promise<Changed<Result>>,
): Promise<Result> {
  return inTransaction(deps.pool, async (client) => {
    await lockServers(client);
    const now = deps.clock.now();
    const listed = await listServerRecords(client, MAX_FLEET_SERVERS);
    const { entry, result } = await apply(client, listed, now);
    await insertAuditEntry(client, { ...entry, occurredAt: now });
    return result;
  });
}

function requireServer(
  listed: readonly ServerRecord[],
  { idOrAddress, expectedVersion }: ServerChange,
): ServerRecord {
  const parsed = parseAddress(idOrAddress);
  const wanted = 'address' in parsed ? parsed.address : null;
  const server = listed.find(({ id, address }) => address === wanted || id === wanted);
  if (server === undefined) throw noSuch('There is no such server, or it was removed.');
  if (expectedVersion !== undefined && expectedVersion !== server.version) {
    throw conflict(viewServer(server));
  }
  return server;
}

function requireFreeAddress(listed: readonly ServerRecord[], { id, address }: ServerRecord): void {
  const other = listed.find((each) => each.address === address && each.id !== id);
  if (other === undefined) return;
  throw notPossible(`The address ${address} is listed already, as ${other.name}.`);
}

function requireCapacity(count: number): void {
  if (count <= MAX_FLEET_SERVERS) return;
  throw notPossible(`The list has at most ${MAX_FLEET_SERVERS} servers.`);
}

function requireEntries(entries: readonly ServerEntry[]): ServerEntry[] {
  const valid = entries.map((entry, index) => requireEntry(entry, ['servers', index]));
  const repeated = findRepeated(valid);
  if (repeated === -1) return valid;
  throw invalid({
    path: ['servers', repeated, 'address'],
    message: `The address ${valid[repeated]?.address ?? ''} is in the import twice`,
  });
}

function requireEntry(entry: ServerEntry, place: EntryProblem['path'] = []): ServerEntry {
  const read = readEntry(entry);
  if ('entry' in read) return read.entry;
  throw invalid({ ...read.problem, path: [...place, ...read.problem.path] });
}

function invalid({ path, message }: EntryProblem) {
  return invalidRequest([{ loc: ['body', ...path], msg: message, type: 'value_error' }]);
}
