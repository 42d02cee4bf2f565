import type { HostFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { AGENT_PORT } from '../paths.ts';
import { keepsConfiguration } from './agent-steps.ts';

/** The port that the agent will listen on: a configuration that stays as it is may name another than the usual one. */
export function findAgentPort(
  options: InstallOptions,
  mode: InstallMode,
  { installed, configured }: Pick<HostFacts, 'configured' | 'installed'>,
): number {
  if (configured === null || !keepsConfiguration(options, mode, installed)) return AGENT_PORT;
  return configured.port;
}
