import type { InstalledFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';

/** Whether the configuration file stays as it is: it fits what is asked for, and people may have changed it. */
export function keepsConfiguration(
  { domain, mutualTls }: Pick<InstallOptions, 'domain' | 'mutualTls'>,
  mode: InstallMode,
  installed: InstalledFacts | null,
): boolean {
  if (installed === null) return false;
  const isSame = installed.domain === domain && installed.mode === mode;
  return isSame && installed.mutualTls === mutualTls;
}
