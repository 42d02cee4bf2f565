import type { NginxFile } from '../facts.ts';
import type { FileStep } from '../steps.ts';
import { findAccessBlocker, type Blocker } from './blockers.ts';
import { limitPlaces, writeFile } from './own-files.ts';
import { describeNode, listNamed, readConfiguration } from './read-configuration.ts';
import { hasHttp2Directive, renderLimits } from './render.ts';
import { isOnPort, listOnPort, listServers, offersHttp2, type Server } from './servers.ts';

/** Where a server block of ours goes, or why it can go nowhere. */
export type Place = { readonly path: string } | Blocker;

interface Wanted {
  readonly text: string;
  readonly port: number;
  /** The files that it may lie in, the best one first. */
  readonly candidates: readonly string[];
}

/**
 * Looks for a file that nginx loads, and in which our block takes nothing from others: each is tried in a copy of the
 * configuration. One that an earlier installation chose stays.
 * @param others all files but ours
 * @param files with ours
 */
export function placeServer(
  files: readonly NginxFile[],
  others: readonly NginxFile[],
  { text, port, candidates }: Wanted,
): Place {
  const earlier = candidates.find((path) => files.some((file) => file.path === path));
  if (earlier !== undefined) return { path: earlier };
  const found: Blocker[] = [];
  for (const path of candidates) {
    const blocker = tryFile(others, { path, realPath: path, text, isWritable: true }, port);
    if (blocker === null) return { path };
    found.push(blocker);
  }
  // A file that is not loaded says less than one that is and does not do.
  return found.find((each) => each !== NOT_LOADED) ?? NOT_LOADED;
}

const NOT_LOADED: Blocker = {
  reason:
    'nginx loads neither /etc/nginx/conf.d/*.conf nor /etc/nginx/sites-enabled/*, where a server block could be added.',
  advice: null,
};

function tryFile(others: readonly NginxFile[], file: NginxFile, port: number): Blocker | null {
  const servers = listOnPort(listServers(readConfiguration([...others, file])), port);
  const own = servers.find(({ node }) => node.file === file);
  if (own === undefined) return NOT_LOADED;
  const rest = servers.filter((server) => server !== own);
  return findNarrow(rest, port) ?? findDisplaced(servers, own, port) ?? findAccessBlocker(own);
}

/**
 * A listener on one address gets all connections to it, and ours on every address none of them. One of this machine alone is no
 * matter, unless it is the only kind: nginx cannot listen on every address while it still has that socket.
 */
function findNarrow(servers: readonly Server[], port: number): Blocker | null {
  const isWide = servers.some((server) => listAddresses(server, port).has('*'));
  const known = isWide ? /^(?:\*|\[::\]|127\..*|localhost)$/ : /^(?:\*|\[::\])$/;
  const found = servers.find(
    (server) =>
      server.listens.some((listen) => listen.takesBoth && isOnPort(listen, port)) ||
      [...listAddresses(server, port)].some((address) => !known.test(address ?? '')),
  );
  if (found === undefined) return null;
  const reason = `Another site listens on port ${port} in a way of its own (${describeNode(found.node)}), so it cannot be told which addresses are the agent's.`;
  return { reason, advice: 'Let its "listen" lines name the same addresses.' };
}

/**
 * Whether a block of ours may listen on IPv6. Where other sites do not, their visitors would come to ours by IPv6, and be shown
 * its certificate.
 */
export function mayUseIpv6(servers: readonly Server[], port: number): boolean {
  const others = listOnPort(servers, port);
  return others.length === 0 || others.some((server) => listAddresses(server, port).has('[::]'));
}

/** Whether other sites offer HTTP/2 from our block on: before nginx 1.25.1 that is up to the socket. */
export function spreadsHttp2(servers: readonly Server[], version: string): boolean {
  const others = listOnPort(servers, 443);
  return !hasHttp2Directive(version) && others.length > 0 && !others.some(offersHttp2);
}

/** Whether our block would answer for all names that nobody has, in place of another site. */
function findDisplaced(servers: readonly Server[], own: Server, port: number): Blocker | null {
  const isDisplacing = [...listAddresses(own, port)].some((address) => {
    const [first, second] = servers.filter((server) => listAddresses(server, port).has(address));
    const hasDefault = servers.some((server) => listAddresses(server, port, true).has(address));
    return first === own && second !== undefined && !hasDefault;
  });
  if (!isDisplacing) return null;
  const reason = `A server block of the agent would come before the others on port ${port}, and answer for them where no name fits.`;
  return { reason, advice: null };
}

/** The addresses on which a block gets connections to a port; only those of which it is the default, if so asked. */
function listAddresses(
  { listens }: Server,
  port: number,
  onlyDefault = false,
): ReadonlySet<string | null> {
  const found = listens.filter((each) => isOnPort(each, port) && (each.isDefault || !onlyDefault));
  return new Set(found.map(({ address }) => (address === '0.0.0.0' ? '*' : address)));
}

/**
 * Plans the file that counts the connections of each client, which nginx takes outside of server blocks only.
 * @param others all files but ours
 * @returns null where nginx loads no directory that it may lie in: the agent limits viewers itself
 */
export function placeLimits(others: readonly NginxFile[]): FileStep | null {
  const text = renderLimits();
  const path = limitPlaces.find((each) => {
    const file = { path: each, realPath: each, text, isWritable: true };
    const http = listNamed(readConfiguration([...others, file]), 'http');
    return http.some(({ children }) => children.some((node) => node.file === file));
  });
  return path === undefined ? null : writeFile(path, text);
}
