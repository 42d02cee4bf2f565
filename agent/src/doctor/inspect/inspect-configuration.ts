import { checkEnvironment } from '../../config/check-environment.ts';
import { type AgentConfig, ConfigError } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { RunProgram } from '../../install/run-program.ts';
import { listTlsFiles } from '../../tls/tls-files.ts';
import type { ConfigurationStatus } from './inspection.ts';
import { listUnreadable } from './programs.ts';

/** A configuration file that was read, or what is wrong with it. */
type Reading =
  | { readonly config: AgentConfig; readonly problems: null }
  | { readonly config: null; readonly problems: readonly string[] };

export async function readConfiguration(path: string): Promise<Reading> {
  try {
    return { config: await loadConfig(path), problems: null };
  } catch (error) {
    if (error instanceof ConfigError) return { config: null, problems: error.problems };
    throw error;
  }
}

/** Looks at what the configuration needs of the machine, and whether the agent's user may read its files. */
export async function inspectConfiguration(
  path: string,
  { config, problems }: Reading,
  runProgram: RunProgram,
  now: Date,
): Promise<ConfigurationStatus> {
  if (config === null) return { kind: 'wrong', path, problems };
  const files = [...listTlsFiles(config.tls), config.tokensFile].filter((file) => file !== null);
  const [findings, unreadable] = await Promise.all([
    checkEnvironment(config, now),
    listUnreadable(runProgram, files),
  ]);
  return { kind: 'read', path, config, findings, unreadable };
}
