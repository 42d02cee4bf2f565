/** Feature: the list of servers that operators watch on the fleet page, each with an agent. */
import { MAX_FLEET_SERVERS, type FleetServer } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';

import { listServerAddresses, listServerRecords, type ServerRecord } from './queries.ts';
import { toHost } from './rules/address.ts';

/** The dependencies of reading and changing the list. */
export interface FleetDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
}

/** Lists the servers by name. */
export function listServers({ pool }: Pick<FleetDependencies, 'pool'>): Promise<ServerRecord[]> {
  return listServerRecords(pool, MAX_FLEET_SERVERS);
}

/** Lists the hosts with ports that the fleet page connects to, such as `web-1.example.com:4096`. */
export async function listFleetHosts({ pool }: Pick<FleetDependencies, 'pool'>): Promise<string[]> {
  const addresses = await listServerAddresses(pool, MAX_FLEET_SERVERS);
  return [...new Set(addresses.map(toHost))];
}

/** Converts a server to the form of the interface. */
export function viewServer(server: ServerRecord): FleetServer {
  const { id, name, address, version } = server;
  const createdAt = server.createdAt.toISOString();
  return { id, name, address, labels: [...server.labels], created_at: createdAt, version };
}
