/** The parameters of a PostgreSQL URL that concern TLS, with the names, values and defaults of libpq. */
import type { Variables } from './env.ts';
import type { Parsed } from './parsed.ts';
import { findClosestName } from '#server/lib/closest-name.ts';

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

/** The `sslmode` of libpq. */
export type TlsMode = (typeof MODES)[number];

const NEGOTIATIONS = ['postgres', 'direct'] as const;
const BINDINGS = ['disable', 'prefer', 'require'] as const;
const VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

/** The value of `sslrootcert` for the authorities that the system trusts. */
export const SYSTEM = 'system';

/** What a URL and the variables `PGSSL…` say about TLS. Paths are absolute; null: the default file of libpq, if it exists. */
export interface DatabaseTls {
  readonly mode: TlsMode;
  /** Whether the URL or PGSSLMODE sets the mode. */
  readonly isModeSet: boolean;
  /** A path, or `system`. */
  readonly rootCertificate: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  /** Of the key; null: it is not encrypted. */
  readonly keyPassword: string | null;
  readonly revocationList: string | null;
  readonly negotiation: (typeof NEGOTIATIONS)[number];
  readonly channelBinding: (typeof BINDINGS)[number];
  readonly minVersion: (typeof VERSIONS)[number];
  readonly maxVersion: (typeof VERSIONS)[number];
}

/** Variables of libpq, by the parameter for which they are the default. */
const VARIABLES: Readonly<Record<string, string>> = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslcrl: 'PGSSLCRL',
  sslnegotiation: 'PGSSLNEGOTIATION',
  channel_binding: 'PGCHANNELBINDING',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  ssl_max_protocol_version: 'PGSSLMAXPROTOCOLVERSION',
};

/** Parameters about TLS, which the driver must not see: it reads some of them differently. */
const TLS_PARAMETERS = [...Object.keys(VARIABLES), 'sslpassword', 'ssl'];

/** Parameters that the driver reads as libpq does. */
const DRIVER_PARAMETERS = ['user', 'password', 'options', 'client_encoding'];

/** Parameters of libpq without effect here: the service names its connections itself, and the kernel's limits apply. */
const IGNORED_PARAMETERS = [
  'application_name',
  'fallback_application_name',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'sslcompression',
];

const KNOWN_PARAMETERS = [
  'host',
  'port',
  'target_session_attrs',
  'connect_timeout',
  'gssencmode',
  ...TLS_PARAMETERS,
  ...DRIVER_PARAMETERS,
  ...IGNORED_PARAMETERS,
];

/** Returns the parameters that the driver may see. */
export function selectDriverParameters(parameters: URLSearchParams): URLSearchParams {
  const selected = new URLSearchParams();
  for (const [name, value] of parameters) {
    if (DRIVER_PARAMETERS.includes(name)) selected.append(name, value);
  }
  return selected;
}

/**
 * Reads the parameters of a URL that concern TLS.
 * @param variables of the process; a parameter takes precedence
 */
export function readTls(parameters: URLSearchParams, variables: Variables): Parsed<DatabaseTls> {
  const must = findForeignParameter(parameters);
  if (must !== null) return { must };
  const settings = collect(parameters, variables);
  const problem = findChoiceProblem(settings) ?? findPathProblem(settings);
  if (problem !== null) return { must: problem };
  const tls = toTls(settings);
  const conflict = findConflict(tls);
  return conflict === null ? { value: tls } : { must: conflict };
}

type Settings = Readonly<Partial<Record<string, string>>>;

/** The last one of several values counts, as in libpq. */
function collect(parameters: URLSearchParams, variables: Variables): Settings {
  const settings: Record<string, string> = {};
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const value = variables[variable] ?? '';
    if (value !== '') settings[name] = value;
  }
  for (const [name, value] of parameters) {
    if (name === 'ssl') settings['sslmode'] = 'require';
    else if (value !== '') settings[name] = value;
  }
  return settings;
}

function toTls(settings: Settings): DatabaseTls {
  const rootCertificate = settings['sslrootcert'] ?? null;
  const mode = pick(MODES, settings['sslmode']);
  return {
    mode: mode ?? (rootCertificate === SYSTEM ? 'verify-full' : 'prefer'),
    isModeSet: mode !== null,
    rootCertificate,
    certificate: settings['sslcert'] ?? null,
    key: settings['sslkey'] ?? null,
    keyPassword: settings['sslpassword'] ?? null,
    revocationList: settings['sslcrl'] ?? null,
    negotiation: pick(NEGOTIATIONS, settings['sslnegotiation']) ?? 'postgres',
    channelBinding: pick(BINDINGS, settings['channel_binding']) ?? 'prefer',
    minVersion: pick(VERSIONS, settings['ssl_min_protocol_version']) ?? 'TLSv1.2',
    maxVersion: pick(VERSIONS, settings['ssl_max_protocol_version']) ?? 'TLSv1.3',
  };
}

function pick<Value extends string>(
  values: readonly Value[],
  text: string | undefined,
): Value | null {
  return values.find((value) => value === text) ?? null;
}

const CHOICES = {
  sslmode: MODES,
  sslnegotiation: NEGOTIATIONS,
  channel_binding: BINDINGS,
  ssl_min_protocol_version: VERSIONS,
  ssl_max_protocol_version: VERSIONS,
};

function findChoiceProblem(settings: Settings): string | null {
  for (const [name, values] of Object.entries(CHOICES)) {
    const text = settings[name];
    if (text === undefined || values.some((value) => value === text)) continue;
    const hint = text === 'no-verify' ? '; no-verify is called require there' : '';
    return `have one of these as ${name}, as in libpq: ${values.join(', ')}${hint}`;
  }
  return null;
}

/** A relative path would depend on the directory that a process was started in. */
function findPathProblem(settings: Settings): string | null {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl']) {
    const path = settings[name] ?? '/';
    if (path.startsWith('/') || (name === 'sslrootcert' && path === SYSTEM)) continue;
    return `have an absolute path as ${name}`;
  }
  return null;
}

/** Combinations that libpq rejects. */
function findConflict({ mode, rootCertificate, negotiation }: DatabaseTls): string | null {
  if (rootCertificate === SYSTEM && mode !== 'verify-full') {
    return `have sslmode=verify-full with sslrootcert=system: with ${mode}, the certificate of any server on the internet would do`;
  }
  if (negotiation === 'direct' && ['disable', 'allow', 'prefer'].includes(mode)) {
    return 'have sslmode=require, verify-ca or verify-full with sslnegotiation=direct';
  }
  return null;
}

/** A misspelt parameter would leave a connection without the protection that it asks for. */
function findForeignParameter(parameters: URLSearchParams): string | null {
  for (const [name, value] of parameters) {
    const isForeignValue =
      (name === 'ssl' && value !== 'true') || (name === 'gssencmode' && value === 'require');
    if (KNOWN_PARAMETERS.includes(name) && !isForeignValue) continue;
    return describeForeign(name);
  }
  return null;
}

function describeForeign(name: string): string {
  if (name === 'ssl') return 'have sslmode, as in libpq, instead of ssl';
  if (name === 'gssencmode') return 'not require GSSAPI encryption: use sslmode';
  if (name === 'uselibpqcompat') {
    return 'not have uselibpqcompat: sslmode always means what it means in libpq';
  }
  // A part of a password with an unencoded ? may be here.
  if (!/^[a-z_]{2,40}$/u.test(name)) return 'have a percent-encoded password: write ? as %3F';
  const meant = findClosestName(name, KNOWN_PARAMETERS);
  const hint = meant === undefined ? '' : `: ${meant} was probably meant`;
  return `not have the parameter ${name}, which Latchkey does not support${hint}`;
}
