import { existsSync } from 'node:fs';

import { ConfigError } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';

/**
 * What is wrong with a configuration that stays as it is, as sentences: an agent that runs with what it read before would not
 * come back, neither the new one nor the old.
 */
export async function listConfigurationFaults(path: string): Promise<readonly string[]> {
  if (!existsSync(path)) return [];
  try {
    await loadConfig(path);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      ...error.problems,
      `The agent would not start with ${path} as it is: correct it (latchkey-agent validate) and run this again.`,
    ];
  }
}
