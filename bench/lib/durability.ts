import { withDatabase } from './database.ts';

const SETTINGS = ['server_version', 'fsync', 'synchronous_commit', 'shared_buffers'] as const;

/** Reads the settings of a running database that affect durability. */
export async function describeDurability(dataDirectory: string): Promise<Record<string, string>> {
  return withDatabase(dataDirectory, async (pool) => {
    const settings: Record<string, string> = {};
    for (const name of SETTINGS) {
      const { rows } = await pool.query<Record<string, unknown>>(`show ${name}`);
      settings[name] = String(rows[0]?.[name]);
    }
    return settings;
  });
}
