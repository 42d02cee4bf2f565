import type { Config } from './config/config.ts';
import { StartupError } from './config/startup-error.ts';
import { findOwner } from './db/embedded/owner-lock.ts';
import { requireFreePorts } from './http/listen.ts';

/**
 * Checks that the ports are free, before slower steps of the start. If another Latchkey runs on the same data, which also uses
 * the ports, that is the problem to report.
 * @throws StartupError with one sentence
 */
export async function requireStartable(config: Config): Promise<void> {
  try {
    await requireFreePorts(config);
  } catch (error) {
    const isOwn = error instanceof StartupError && config.database.kind === 'embedded';
    throw (isOwn ? await findOwner(config.dataDirectory) : null) ?? error;
  }
}
