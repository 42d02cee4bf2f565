import { resolve } from 'node:path';

import { hasCode } from '#server/lib/error-code.ts';

import { clusterDirectory } from './cluster.ts';
import { openForSocket } from './directory-handle.ts';
import { findPostmaster } from './postmaster-file.ts';
import { connectionThrough, tryConnection, type EmbeddedConnection } from './readiness.ts';

/**
 * Finds the database of a service that runs on the data directory, so that a command can use it meanwhile.
 * @returns null when none runs there, or it is not ready
 */
export async function findEmbeddedPostgres(
  dataDirectory: string,
): Promise<EmbeddedConnection | null> {
  const cluster = clusterDirectory(resolve(dataDirectory));
  try {
    if ((await findPostmaster(cluster)) === null) return null;
  } catch (error) {
    // Somebody else's cluster: the attempt to start a server on it will say so.
    if (hasCode(error, 'EACCES')) return null;
    throw error;
  }
  // Kept open: the connection may be used until this process ends.
  const connection = connectionThrough(openForSocket(cluster).path);
  return (await tryConnection(connection)) === 'ready' ? connection : null;
}
