import type { Node } from './read-configuration.ts';

/** One address that a server block listens on. */
export interface Listen {
  /** `*`, `[::]`, or an address; null for a socket in the file system. */
  readonly address: string | null;
  /** Both 0 for a socket. */
  readonly firstPort: number;
  readonly lastPort: number;
  readonly isTls: boolean;
  readonly isDefault: boolean;
  /** Takes IPv4 connections on an IPv6 socket, too. */
  readonly takesBoth: boolean;
  /** Expects a header of the PROXY protocol before all else, as a load balancer sends it. */
  readonly takesProxyHeader: boolean;
}

const DEFAULT: Listen = {
  address: '*',
  firstPort: 80,
  lastPort: 80,
  isTls: false,
  isDefault: false,
  takesBoth: false,
  takesProxyHeader: false,
};

const ADDRESS = /^(?:(?<address>\[[^\]]*\]|[^:[\]]*):)?(?<first>\d+)(?:-(?<last>\d+))?$/;

/**
 * Reads the `listen` lines of a server block, or what nginx takes when there is none. HTTP/3 is left out: it has no TCP port.
 * @param directives of the block, with what it includes
 * @param inherited those of the blocks around it, where `ssl on` may stand
 */
export function readListens(
  directives: readonly Node[],
  inherited: readonly Node[],
): readonly Listen[] {
  const lines = directives
    .map(({ directive }) => directive)
    .filter(({ name }) => name === 'listen');
  const isOld = hasOldSwitch(directives) ?? hasOldSwitch(inherited) ?? false;
  if (lines.length === 0) return [{ ...DEFAULT, isTls: isOld }];
  return lines
    .filter(({ args }) => !args.includes('quic'))
    .map(({ args: [where = '', ...options] }) => ({
      ...readAddress(where),
      isTls: isOld || options.includes('ssl'),
      isDefault: options.includes('default_server') || options.includes('default'),
      takesBoth: options.includes('ipv6only=off'),
      takesProxyHeader: options.includes('proxy_protocol'),
    }));
}

/** What `ssl on;` of before nginx 1.15 says; null where it does not stand. */
function hasOldSwitch(nodes: readonly Node[]): boolean | null {
  const found = nodes.findLast(({ directive }) => directive.name === 'ssl');
  return found === undefined ? null : found.directive.args[0] === 'on';
}

function readAddress(where: string): Pick<Listen, 'address' | 'firstPort' | 'lastPort'> {
  if (where.startsWith('unix:')) return { address: null, firstPort: 0, lastPort: 0 };
  const groups = ADDRESS.exec(where)?.groups;
  const firstPort = Number(groups?.['first'] ?? 80);
  const address = groups === undefined ? where : (groups['address'] ?? '*');
  return {
    address: address.toLowerCase(),
    firstPort,
    lastPort: Number(groups?.['last'] ?? firstPort),
  };
}

/** Whether connections to a port may come here. */
export function isOnPort({ firstPort, lastPort }: Listen, port: number): boolean {
  return firstPort <= port && port <= lastPort;
}
