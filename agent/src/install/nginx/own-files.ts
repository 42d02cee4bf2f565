import { paths } from '../paths.ts';
import type { FileStep } from '../steps.ts';

/**
 * Where a server block of ours may lie. The first block that listens on an address answers for every name that no block has,
 * unless one is marked as default; the later places are for hosts where another block has that part and must keep it.
 */
export const serverPlaces = [
  paths.nginxServer,
  '/etc/nginx/conf.d/zz-latchkey-agent.conf',
  '/etc/nginx/sites-enabled/zz-latchkey-agent.conf',
] as const;

/** The same for the block that answers challenges. */
export const challengePlaces = [
  paths.nginxChallengeServer,
  '/etc/nginx/conf.d/zz-latchkey-agent-challenge.conf',
  '/etc/nginx/sites-enabled/zz-latchkey-agent-challenge.conf',
] as const;

/** The same for what counts the connections of each client. */
export const limitPlaces = [
  paths.nginxLimits,
  '/etc/nginx/sites-enabled/latchkey-agent-limits.conf',
] as const;

const OWN: ReadonlySet<string> = new Set([...serverPlaces, ...challengePlaces, ...limitPlaces]);

/** Whether an earlier installation wrote a file, outside of server blocks of others. */
export function isOwnServerFile(path: string): boolean {
  return OWN.has(path);
}

const HEADER =
  '# Written by the installer of latchkey-agent: what is changed here is lost at the next installation, and with the agent.\n';

/** A file of ours that everybody may read. */
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
