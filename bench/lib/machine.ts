import { cpus, totalmem } from 'node:os';

import { findEmbeddedPostgres } from '#server/db/embedded/find.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

const SETTINGS = ['server_version', 'fsync', 'synchronous_commit', 'shared_buffers'] as const;

/** What the figures were measured on. */
export function describeMachine() {
  const [first] = cpus();
  return {
    machine: first?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

/** The settings of a running database that decide how durable a commit is. */
export async function describeDurability(dataDirectory: string): Promise<Record<string, string>> {
  const connection = await findEmbeddedPostgres(dataDirectory);
  if (connection === null) throw new Error('the database does not run');
  const pool = createPool(connection, { maxConnections: 1, log: createLog({ level: 'warn' }) });
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const { rows } = await pool.query<Record<string, unknown>>(`show ${name}`);
    settings[name] = String(rows[0]?.[name]);
  }
  await pool.end();
  return settings;
}
