import { join } from 'node:path';

/** Returns the directory of the embedded PostgreSQL's cluster in a data directory. */
export function clusterDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'postgres');
}
