import type { NginxFile } from '../facts.ts';
import type { FileStep } from '../steps.ts';
import { findAccessBlocker, type Blocker } from './blockers.ts';
import { limitPaths, writeFile } from './own-files.ts';
import { describeNode, listNamed, readConfiguration } from './read-configuration.ts';
import { hasHttp2Directive, renderLimits } from './render.ts';
import { isOnPort, listOnPort, listServers, offersHttp2, type Server } from './servers.ts';

/** The path of the agent's server block, or the reason for which there is none. */
export type ServerFile = { readonly path: string } | Blocker;

interface ServerRequest {
  readonly text: string;
  readonly port: number;
  /** The candidate paths, best first. */
  readonly candidates: readonly string[];
}

/**
 * Finds a path that nginx loads, and where the agent's block answers no requests for other sites: each is tried in a copy of the
 * configuration. The path of an earlier installation is kept.
 * @param others all files except the agent's
 * @param files all files
 */
export function chooseServerFile(
  files: readonly NginxFile[],
  others: readonly NginxFile[],
  { text, port, candidates }: ServerRequest,
): ServerFile {
  const earlier = candidates.find((path) => files.some((file) => file.path === path));
  if (earlier !== undefined) return { path: earlier };
  const found: Blocker[] = [];
  for (const path of candidates) {
    const blocker = tryFile(others, { path, realPath: path, text, isWritable: true }, port);
    if (blocker === null) return { path };
    found.push(blocker);
  }
  // The blocker of a loaded file is a better explanation than a file that nginx does not load.
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
  return (
    findListenBlocker(rest, port) ??
    findPrecedenceBlocker(servers, own, port) ??
    findAccessBlocker(own)
  );
}

/**
 * Returns a blocker for a site that listens on specific addresses: it receives all connections to them, and a block on every
 * address none. Loopback is irrelevant unless it is the only kind, because nginx cannot change to every address while that socket
 * exists.
 */
function findListenBlocker(servers: readonly Server[], port: number): Blocker | null {
  const isWide = servers.some((server) => listAddresses(server, port).has('*'));
  const known = isWide ? /^(?:\*|\[::\]|127\..*|localhost)$/ : /^(?:\*|\[::\])$/;
  const found = servers.find(
    (server) =>
      server.listens.some((listen) => listen.acceptsBoth && isOnPort(listen, port)) ||
      [...listAddresses(server, port)].some((address) => !known.test(address ?? '')),
  );
  if (found === undefined) return null;
  const reason = `Another site listens on port ${port} on specific addresses (${describeNode(found.node)}), so the addresses of the agent cannot be determined.`;
  return { reason, advice: 'Use the same addresses in its "listen" lines.' };
}

/**
 * Whether the agent's block may listen on IPv6. Where other sites do not, it would answer their visitors on IPv6 with its own
 * certificate.
 */
export function mayUseIpv6(servers: readonly Server[], port: number): boolean {
  const others = listOnPort(servers, port);
  return others.length === 0 || others.some((server) => listAddresses(server, port).has('[::]'));
}

/** Whether the agent's block turns on HTTP/2 for other sites: before nginx 1.25.1 it is a setting of the socket. */
export function spreadsHttp2(servers: readonly Server[], version: string): boolean {
  const others = listOnPort(servers, 443);
  return !hasHttp2Directive(version) && others.length > 0 && !others.some(offersHttp2);
}

/** Returns a blocker when the agent's block would answer unknown names instead of another site. */
function findPrecedenceBlocker(
  servers: readonly Server[],
  own: Server,
  port: number,
): Blocker | null {
  const isDisplacing = [...listAddresses(own, port)].some((address) => {
    const [first, second] = servers.filter((server) => listAddresses(server, port).has(address));
    const hasDefault = servers.some((server) => listAddresses(server, port, true).has(address));
    return first === own && second !== undefined && !hasDefault;
  });
  if (!isDisplacing) return null;
  const reason = `A server block of the agent would precede the others on port ${port} and answer requests that match no name.`;
  return { reason, advice: null };
}

/** Returns the addresses on which a block accepts connections to a port, or only those of which it is the default. */
function listAddresses(
  { listens }: Server,
  port: number,
  onlyDefault = false,
): ReadonlySet<string | null> {
  const found = listens.filter((each) => isOnPort(each, port) && (each.isDefault || !onlyDefault));
  return new Set(found.map(({ address }) => (address === '0.0.0.0' ? '*' : address)));
}

/**
 * Plans the zone that counts connections per client, which nginx accepts outside of server blocks only.
 * @param others all files except the agent's
 * @returns null where nginx loads no directory for it: the agent limits viewers itself
 */
export function planLimits(others: readonly NginxFile[]): FileStep | null {
  const text = renderLimits();
  const path = limitPaths.find((each) => {
    const file = { path: each, realPath: each, text, isWritable: true };
    const http = listNamed(readConfiguration([...others, file]), 'http');
    return http.some(({ children }) => children.some((node) => node.file === file));
  });
  return path === undefined ? null : writeFile(path, text);
}
