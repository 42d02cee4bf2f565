import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ConfigError } from '../../config/config.ts';
import { loadConfig, loadSettings } from '../../config/load-config.ts';
import { readText } from '../../read/small-file.ts';
import type { ConfiguredFacts, InstalledFacts } from '../facts.ts';
import { INSTALLED_FILE, parseInstalled } from '../installed.ts';
import { paths } from '../paths.ts';
import type { Detection } from '../../system/run-program.ts';

/** Reads the register of an installation; null without one. `fault` explains a damaged register with its fix. */
export function detectInstalled({ root }: Pick<Detection, 'root'>): {
  readonly installed: InstalledFacts | null;
  readonly fault: string | null;
} {
  const path = join(paths.journal, INSTALLED_FILE);
  const text = readText(join(root, path));
  if (text === null) return { installed: null, fault: null };
  const installed = parseInstalled(text);
  if (installed !== null) return { installed, fault: null };
  const fault = `${path} is damaged, so the installation is unknown: remove that file and install again with all options, or run latchkey-agent uninstall.`;
  return { installed, fault };
}

/** The agent's configuration, or the problems with it. */
export interface DetectedConfiguration {
  /** Null where there is no file, and where it is invalid. */
  readonly configured: ConfiguredFacts | null;
  /** Sentences; none without a file. */
  readonly faults: readonly string[];
}

/** Reads the agent's configuration. An invalid file may restrict viewers, so it is a fault and never overwritten. */
export async function detectConfiguration({
  root,
}: Pick<Detection, 'root'>): Promise<DetectedConfiguration> {
  const path = join(root, paths.configuration);
  if (!existsSync(path)) return { configured: null, faults: [] };
  try {
    const { listen, intervalSeconds, maxConnectionsPerAddress } = await loadConfig(path);
    const settings = await loadSettings(path);
    const viewersPerAddress = maxConnectionsPerAddress;
    const configured = { ...listen, intervalSeconds, viewersPerAddress, settings };
    return { configured, faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = `The agent would not start with ${path} as it is: correct it (latchkey-agent validate), or remove it for a new one, and run this again.`;
    return { configured: null, faults: [...error.problems, advice] };
  }
}
