import { paths } from '../paths.ts';
import type { FileStep } from '../steps.ts';

/**
 * The paths of the agent's server block, in order of preference. The first block on an address answers for unknown names unless
 * one is marked as default; with the later paths another block is first.
 */
export const serverPaths = [
  paths.nginxServer,
  '/etc/nginx/conf.d/zz-latchkey-agent.conf',
  '/etc/nginx/sites-enabled/zz-latchkey-agent.conf',
] as const;

/** The paths of the block that answers challenges. */
export const challengePaths = [
  paths.nginxChallengeServer,
  '/etc/nginx/conf.d/zz-latchkey-agent-challenge.conf',
  '/etc/nginx/sites-enabled/zz-latchkey-agent-challenge.conf',
] as const;

/** The paths of the zone that counts connections per client. */
export const limitPaths = [
  paths.nginxLimits,
  '/etc/nginx/sites-enabled/latchkey-agent-limits.conf',
] as const;

const OWN: ReadonlySet<string> = new Set([...serverPaths, ...challengePaths, ...limitPaths]);

/** Whether a path is one of the agent's files outside of other server blocks. */
export function isOwnServerFile(path: string): boolean {
  return OWN.has(path);
}

const HEADER =
  '# Written by the installer of latchkey-agent: what is changed here is lost at the next installation, and with the agent.\n';

/** Returns the step for a file of the agent that everyone may read. */
export function writeFile(path: string, text: string): FileStep {
  return {
    kind: 'file',
    path,
    text: HEADER + text,
    mode: 0o644,
    group: 'root',
    keepsExisting: false,
  };
}
