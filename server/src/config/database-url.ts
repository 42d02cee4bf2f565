/** URLs of PostgreSQL with one host or several, as libpq reads them. */
import type { Parsed } from './parsed.ts';

/** A host to connect to. */
export interface DatabaseHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

const SESSION_KINDS = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;

/** The `target_session_attrs` of libpq: which hosts are used. */
export type SessionKind = (typeof SESSION_KINDS)[number];

/** A parsed URL. */
export interface DatabaseUrl {
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[];
  /** Null: the URL does not set it. */
  readonly sessionKind: SessionKind | null;
  /** The limit for a connection to one host; null: the URL does not set it. */
  readonly connectTimeoutMs: number | null;
  /** The URL with the host `localhost` and without the parameters above: user, password, database and TLS. */
  readonly shared: string;
}

const EXAMPLE =
  'be a URL such as postgres://user:password@host:5432/latchkey, with special characters of the password percent-encoded';

const SHAPE =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?(?:#.*)?$/u;

const DEFAULT_HOST = 'localhost';
const DEFAULT_PORT = 5432;

/** Parses a URL with one or several hosts, in the authority or in the parameters `host` and `port`. */
export function parseDatabaseUrl(text: string): Parsed<DatabaseUrl> {
  const { scheme = '', user, hosts = '', path = '', query = '' } = SHAPE.exec(text)?.groups ?? {};
  const parameters = new URLSearchParams(query);
  const credentials = user === undefined ? '' : `${user}@`;
  const found = takeHosts(hosts, parameters);
  const sessionKind = takeSessionKind(parameters);
  const connectTimeoutMs = takeConnectTimeout(parameters);
  const rest = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const shared = `${scheme}${credentials}${DEFAULT_HOST}${path}${rest}`;
  if (!URL.canParse(shared)) return { must: EXAMPLE };
  if ('must' in found) return found;
  if ('must' in sessionKind) return sessionKind;
  if ('must' in connectTimeoutMs) return connectTimeoutMs;
  return {
    value: {
      hosts: found.value,
      sessionKind: sessionKind.value,
      connectTimeoutMs: connectTimeoutMs.value,
      shared,
    },
  };
}

/** Formats a host as in a URL: `db1.example.com:5432`. */
export function formatHost({ host, port }: DatabaseHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the URL of one of several hosts. */
export function urlOfHost({ shared }: Pick<DatabaseUrl, 'shared'>, host: DatabaseHost): string {
  const url = new URL(shared);
  url.searchParams.set('host', host.host);
  url.searchParams.set('port', String(host.port));
  return url.href;
}

/** Formats a URL without its password and parameters. */
export function withoutPassword(text: string): string {
  const parsed = parseDatabaseUrl(text);
  if ('must' in parsed) return '(invalid)';
  const { hosts, shared } = parsed.value;
  const { protocol, username, pathname } = new URL(shared);
  const user = username === '' ? '' : `${username}:***@`;
  return `${protocol}//${user}${hosts.map(formatHost).join(',')}${pathname}`;
}

/** Removes and returns a parameter. */
function take(parameters: URLSearchParams, name: string): string | null {
  const value = parameters.get(name);
  parameters.delete(name);
  return value === '' ? null : value;
}

/** The parameters `host` and `port` take precedence over the authority. */
function takeHosts(authority: string, parameters: URLSearchParams): Parsed<DatabaseHost[]> {
  const names = take(parameters, 'host');
  const ports = take(parameters, 'port');
  const named =
    names === null
      ? authority.split(',').map(readHost)
      : names.split(',').map((host) => ({ host, port: '' }));
  const own = ports?.split(',') ?? [];
  if (own.length > 1 && own.length !== named.length) {
    return { must: 'have one port for all hosts, or one for each' };
  }
  const hosts = named.map(({ host, port }, index) => ({
    host: host === '' && named.length === 1 ? DEFAULT_HOST : host,
    port: readPort((own.length === 1 ? own[0] : own[index]) ?? port),
  }));
  return hosts.every(({ host, port }) => host !== '' && port !== null)
    ? { value: hosts.map(({ host, port }) => ({ host, port: port ?? DEFAULT_PORT })) }
    : { must: EXAMPLE };
}

const HOST = /^(?:\[(?<address>[\da-fA-F:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d*))?$/u;

/** Splits `name:port` or `[address]:port`; an empty host is none. */
function readHost(text: string): { readonly host: string; readonly port: string } {
  const { address, name = '', port = '' } = HOST.exec(text)?.groups ?? {};
  return { host: address ?? decode(name), port: HOST.test(text) ? port : 'invalid' };
}

/** Decodes the directory of a socket (`%2Frun%2Fpostgresql`). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It is looked up as it is, and not found.
    return text;
  }
}

function readPort(text: string): number | null {
  if (text === '') return DEFAULT_PORT;
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

function takeSessionKind(parameters: URLSearchParams): Parsed<SessionKind | null> {
  const text = take(parameters, 'target_session_attrs');
  const kind = SESSION_KINDS.find((known) => known === text) ?? null;
  return text === null || kind !== null
    ? { value: kind }
    : { must: `have one of these as target_session_attrs: ${SESSION_KINDS.join(', ')}` };
}

/** In seconds in the URL; 0 is the default, as in libpq. */
function takeConnectTimeout(parameters: URLSearchParams): Parsed<number | null> {
  const text = take(parameters, 'connect_timeout');
  if (text === null || text === '0') return { value: null };
  return /^[1-9]\d{0,2}$/u.test(text)
    ? { value: Number(text) * 1_000 }
    : { must: 'have a connect_timeout in whole seconds, at most 999' };
}
