import { type NameMatch, matchName } from './matching.ts';
import { describeNode, listNamed, type Node } from './read-configuration.ts';

/** A server block of `http`. */
export interface Server {
  readonly node: Node;
  /** The directives of the block, with included ones. */
  readonly directives: readonly Node[];
  /** The directives around the block. */
  readonly inherited: readonly Node[];
  readonly listens: readonly Listen[];
  readonly names: readonly string[];
}

/** The block that answers for a domain on a port. */
export type Choice =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly server: Server }
  | { readonly kind: 'several'; readonly servers: readonly Server[] }
  /** Only nginx can decide whether its name matches. */
  | { readonly kind: 'possible'; readonly server: Server };

/** Returns the server blocks of `http`, or of another block such as `stream`, in nginx's order. */
export function listServers(configuration: readonly Node[], kind = 'http'): readonly Server[] {
  return listNamed(configuration, kind).flatMap(({ children: inherited }) =>
    listNamed(inherited, 'server').map((node) => ({
      node,
      directives: node.children,
      inherited,
      listens: readListens(node.children, inherited),
      names: listNamed(node.children, 'server_name').flatMap(({ directive }) => directive.args),
    })),
  );
}

/** Returns the blocks that may accept connections to a port. */
export function listOnPort(servers: readonly Server[], port: number): readonly Server[] {
  return servers.filter(({ listens }) => listens.some((listen) => isOnPort(listen, port)));
}

/** Whether a block uses TLS on a port. */
export function usesTls({ listens }: Server, port: number): boolean {
  return listens.some((listen) => listen.isTls && isOnPort(listen, port));
}

/** Whether a block also answers other machines without TLS, for example on port 80. */
export function answersWithoutTls({ listens }: Server): boolean {
  return listens.some(({ isTls, address }) => !isTls && address !== null && !isLoopback(address));
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '[::1]' || address.startsWith('127.');
}

/** Whether a block is reached only through a load balancer that speaks the PROXY protocol. */
export function expectsProxyHeader({ listens }: Server, port: number): boolean {
  return listens.some((listen) => listen.expectsProxyHeader && isOnPort(listen, port));
}

/** Whether a block offers HTTP/2, which as a parameter of `listen` applies to all blocks of that address. */
export function offersHttp2(server: Server): boolean {
  const isOn = [...server.inherited, ...server.directives].findLast(
    ({ directive }) => directive.name === 'http2',
  );
  return listensByHttp2(server) || isOn?.directive.args[0] === 'on';
}

/** Whether a block turns on HTTP/2 for all blocks of its address. */
export function listensByHttp2({ directives }: Server): boolean {
  return listNamed(directives, 'listen').some(({ directive }) => directive.args.includes('http2'));
}

/** Chooses the block for a name as nginx does; the default block does not count. */
export function chooseServer(servers: readonly Server[], domain: string): Choice {
  const matches = servers.map((server) => ({ server, match: findBestMatch(server, domain) }));
  const ranks = matches.map(({ match }) => (match?.kind === 'certain' ? match.rank : 0));
  const best = Math.max(0, ...ranks);
  const chosen = matches.filter((_, index) => best > 0 && ranks[index] === best);
  const [first, ...others] = chosen.map(({ server }) => server);
  if (first !== undefined && others.length === 0) return { kind: 'one', server: first };
  if (first !== undefined) return { kind: 'several', servers: [first, ...others] };
  const possible = matches.find(({ match }) => match?.kind === 'possible');
  return possible === undefined ? { kind: 'none' } : { kind: 'possible', server: possible.server };
}

/** Returns all blocks of a choice. */
export function listChosen(choice: Choice): readonly Server[] {
  if (choice.kind === 'none') return [];
  return choice.kind === 'several' ? choice.servers : [choice.server];
}

function findBestMatch({ names }: Server, domain: string): NameMatch | null {
  let best: NameMatch | null = null;
  for (const name of names) {
    const match = matchName(name, domain);
    if (match === null) continue;
    if (best === null || best.kind === 'possible') best = match;
    else if (match.kind === 'certain' && match.rank > best.rank) best = match;
  }
  return best;
}

/** An address that a server block listens on. */
export interface Listen {
  /** `*`, `[::]`, or an address; null for a Unix socket. */
  readonly address: string | null;
  /** Both 0 for a Unix socket. */
  readonly firstPort: number;
  readonly lastPort: number;
  readonly isTls: boolean;
  readonly isDefault: boolean;
  /** Accepts IPv4 connections on an IPv6 socket, too. */
  readonly acceptsBoth: boolean;
  /** Expects a PROXY protocol header first, as a load balancer sends it. */
  readonly expectsProxyHeader: boolean;
}

const DEFAULT: Listen = {
  address: '*',
  firstPort: 80,
  lastPort: 80,
  isTls: false,
  isDefault: false,
  acceptsBoth: false,
  expectsProxyHeader: false,
};

const ADDRESS = /^(?:(?<address>\[[^\]]*\]|[^:[\]]*):)?(?<first>\d+)(?:-(?<last>\d+))?$/;

/**
 * Reads the `listen` directives of a server block, or nginx's default. HTTP/3 is skipped: it uses no TCP port.
 * @param directives the directives of the block, with included ones
 * @param inherited the directives around the block, which may contain `ssl on`
 */
function readListens(directives: readonly Node[], inherited: readonly Node[]): readonly Listen[] {
  const lines = directives
    .map(({ directive }) => directive)
    .filter(({ name }) => name === 'listen');
  const isOld = readSslSwitch(directives) ?? readSslSwitch(inherited) ?? false;
  if (lines.length === 0) return [{ ...DEFAULT, isTls: isOld }];
  return lines
    .filter(({ args }) => !args.includes('quic'))
    .map(({ args: [where = '', ...options] }) => ({
      ...readAddress(where),
      isTls: isOld || options.includes('ssl'),
      isDefault: options.includes('default_server') || options.includes('default'),
      acceptsBoth: options.includes('ipv6only=off'),
      expectsProxyHeader: options.includes('proxy_protocol'),
    }));
}

/** Reads `ssl on;` of nginx before 1.15; null without it. */
function readSslSwitch(nodes: readonly Node[]): boolean | null {
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

/** Whether an address accepts connections to a port. */
export function isOnPort({ firstPort, lastPort }: Listen, port: number): boolean {
  return firstPort <= port && port <= lastPort;
}

/** Returns the directives of a name in a server, or the inherited ones. */
export function findEffective(
  { directives, inherited }: Pick<Server, 'directives' | 'inherited'>,
  name: string,
): readonly Node[] {
  const own = listNamed(directives, name);
  return own.length > 0 ? own : listNamed(inherited, name);
}

/** Explains in one sentence why the answering block is uncertain. */
export function describeSeveral(
  choice: Extract<Choice, { kind: 'several' | 'possible' }>,
  domain: string,
  port: number,
): string {
  if (choice.kind === 'possible') {
    return `Whether a server block answers for ${domain} on port ${port} depends on a regular expression or a variable (${describeNode(choice.server.node)}).`;
  }
  const places = choice.servers.map(({ node }) => describeNode(node)).join('; ');
  return `Several server blocks answer for ${domain} on port ${port} (${places}), of which nginx uses one.`;
}
