import { DatabaseError, type Client } from 'pg';

import type { DatabaseHost, SessionKind } from '#server/config/database-url.ts';

import { isConnectionFailure } from '../database-errors.ts';
import { isExclusive, type HostState, type HostStatus } from './host-state.ts';

const STATE_QUERY = `select case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'read-only' else 'read-write' end as state`;

const STATES: readonly HostState[] = ['read-write', 'read-only', 'standby'];

/** Reads the status of the host of a connection. @throws Error when the connection breaks */
export async function readStatus(client: Client, kind: SessionKind): Promise<HostStatus> {
  const state = await readState(client);
  const hasTimeline = isExclusive(kind) && state !== 'standby';
  return { state, timeline: hasTimeline ? await readTimeline(client) : null };
}

async function readState(client: Client): Promise<HostState> {
  const { rows } = await client.query<Record<string, unknown>>(STATE_QUERY);
  const state = STATES.find((known) => known === rows[0]?.['state']);
  if (state === undefined) throw new Error('the host reported no state');
  return state;
}

/** The first eight digits of a file of the write-ahead log are its timeline. */
const TIMELINE_QUERY =
  "select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer as timeline";

async function readTimeline(client: Client): Promise<number | null> {
  try {
    const { rows } = await client.query<Record<string, unknown>>(TIMELINE_QUERY);
    return Number(rows[0]?.['timeline']);
  } catch (error) {
    // The server may lack the functions, or not permit them.
    if (error instanceof DatabaseError && !isConnectionFailure(error)) return null;
    throw error;
  }
}

/** Sets the host of a client that is not connected yet. */
export function setHost(client: Client, { host, port }: DatabaseHost): void {
  Object.assign(client, { host, port });
  // The driver looks the password up in ~/.pgpass by these.
  const parameters: unknown = Reflect.get(client, 'connectionParameters');
  if (typeof parameters === 'object' && parameters !== null) {
    Object.assign(parameters, { host, port });
  }
}

/**
 * Connects to a host once.
 * @param client a new one, with limits of time
 * @throws Error when it does not accept the connection in time
 */
export async function examineHost<Result>(
  client: Client,
  host: DatabaseHost,
  read: (client: Client) => Promise<Result>,
): Promise<Result> {
  setHost(client, host);
  // Without a listener, a connection that breaks would end the process; the promises reject, too.
  client.on('error', () => {});
  try {
    await client.connect();
    return await read(client);
  } finally {
    // Not awaited: closing a connection to an unresponsive server may never finish.
    client.end().catch(() => {});
  }
}
