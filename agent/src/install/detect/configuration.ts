import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ConfigError } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { ConfiguredFacts } from '../facts.ts';
import { paths } from '../paths.ts';
import type { Detection } from './detection.ts';

/** What the agent's own configuration says; null where there is none, and where the agent would not start with it. */
export async function detectConfiguration({
  root,
}: Pick<Detection, 'root'>): Promise<ConfiguredFacts | null> {
  const path = join(root, paths.configuration);
  if (!existsSync(path)) return null;
  try {
    const { listen, intervalSeconds, maxConnectionsPerAddress } = await loadConfig(path);
    return { ...listen, intervalSeconds, viewersPerAddress: maxConnectionsPerAddress };
  } catch (error) {
    // Where it is to stay as it is, its faults are told before anything is done.
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
