/** URLs of PostgreSQL with one host or several, as libpq reads them. */
import { readTls, selectDriverParameters, type DatabaseTls } from './database-tls.ts';
import type { Variables } from './env.ts';
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
  readonly tls: DatabaseTls;
  /** The URL with the host `localhost` and without hosts, session kind and timeout: user, password, database and TLS. */
  readonly shared: string;
  /** `shared` without what the driver must not read, such as TLS. */
  readonly driver: string;
}

const EXAMPLE =
  'be a URL such as postgres://user:password@host:5432/latchkey, with special characters of the password percent-encoded';

const SHAPE =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?(?:#.*)?$/u;

const DEFAULT_HOST = 'localhost';
const DEFAULT_PORT = 5432;

/**
 * Parses a URL with one or several hosts, in the authority or in the parameters `host` and `port`.
 * @param variables with libpq's defaults for TLS, such as PGSSLMODE. Default: those of this process
 */
export function parseDatabaseUrl(
  text: string,
  variables: Variables = process.env,
): Parsed<DatabaseUrl> {
  const { scheme = '', user, hosts = '', path = '', query = '' } = SHAPE.exec(text)?.groups ?? {};
  // As in libpq, + is no space.
  const parameters = new URLSearchParams(query.replaceAll('+', '%2B'));
  const credentials = user === undefined ? '' : `${user}@`;
  const found = takeHosts(hosts, parameters);
  const sessionKind = takeSessionKind(parameters);
  const connectTimeoutMs = takeConnectTimeout(parameters);
  const base = `${scheme}${credentials}${DEFAULT_HOST}${path}`;
  const shared = withParameters(base, parameters);
  if (!URL.canParse(shared)) return { must: EXAMPLE };
  if ('must' in found) return found;
  if ('must' in sessionKind) return sessionKind;
  if ('must' in connectTimeoutMs) return connectTimeoutMs;
  const tls = readTls(parameters, variables);
  if ('must' in tls) return tls;
  return {
    value: {
      hosts: found.value,
      sessionKind: sessionKind.value,
      connectTimeoutMs: connectTimeoutMs.value,
      tls: tls.value,
      shared,
      driver: withParameters(base, selectDriverParameters(parameters)),
    },
  };
}

function withParameters(base: string, parameters: URLSearchParams): string {
  return parameters.size === 0 ? base : `${base}?${parameters.toString()}`;
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

/** Removes and returns a parameter; the last one of several values counts, as in libpq. */
function take(parameters: URLSearchParams, name: string): string | null {
  const value = parameters.getAll(name).at(-1) ?? '';
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
