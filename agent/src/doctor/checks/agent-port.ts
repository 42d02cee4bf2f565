import { AGENT_PORT } from '../../install/paths.ts';
import type { Look } from '../look/look.ts';

/** The port that the agent is to listen on: the usual one where its configuration does not say. */
export function findAgentPort({ configuration }: Pick<Look, 'configuration'>): number {
  return configuration.kind === 'read' ? configuration.config.listen.port : AGENT_PORT;
}
