import type { HostFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { keepsConfiguration } from './keeps-configuration.ts';
import { planListen } from './plan-settings.ts';

/** Returns the port that the agent will listen on: its configuration may name another than the usual one. */
export function findAgentPort(
  options: InstallOptions,
  mode: InstallMode,
  facts: Pick<HostFacts, 'configured' | 'domainAddresses' | 'installed'>,
): number {
  const { installed, configured } = facts;
  const isKept = configured !== null && keepsConfiguration(options, mode, installed);
  return isKept ? configured.port : planListen(mode, facts).port;
}
