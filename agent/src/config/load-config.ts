import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

import { codeOf, messageOf } from '../errors.ts';
import { type AgentConfig, ConfigError } from './config.ts';
import { Fields, type Problem } from './fields.ts';
import { parseYaml } from './yaml-source.ts';

/** The default path of the configuration. */
export const CONFIG_PATH = '/etc/latchkey-agent/agent.yaml';

/** In the runtime directory of the service. */
const CONTROL_SOCKET = '/run/latchkey-agent/control.sock';

const MAX_BYTES = 64 * 1024;

const FILE = { pattern: /^\/[^\0]{0,4000}$/u, must: 'the absolute path of a file' };
/** The kernel limits the path to 107 bytes. */
const SOCKET = {
  pattern: /^\/[\x21-\x7e]{1,106}$/u,
  must: 'the absolute path of a socket, at most 107 characters',
};
const LISTEN = {
  pattern: /^(?:\[[\da-f:.]+\]|[\d.]+):\d{1,5}$/iu,
  must: 'an address and a port, such as 0.0.0.0:4096 or "[::]:4096"',
};
const SERVER_NAME = { pattern: /^[a-z\d.:-]{1,253}$/iu, must: 'a name or an address' };
const CERTIFICATES = { pattern: /^(?:off|required)$/u, must: 'off or required' };
/** An origin of a page, or all. */
export const ORIGIN = {
  pattern: /^(?:\*|https?:\/\/[^\s/*?#@]+)$/u,
  must: 'an origin such as https://console.example.com, or "*"',
};

const TLS = ['certificate_file', 'key_file', 'server_name'];
const VIEWERS = [
  'certificates',
  'authority_file',
  'revocation_file',
  'refuse_in_handshake',
  'tokens_file',
  'allowed_origins',
];
const LIMITS = ['connections', 'connections_per_address'];
const SECTIONS = { tls: TLS, viewers: VIEWERS, limits: LIMITS };
const TOP = ['listen', 'interval_seconds', 'tls', 'viewers', 'control_socket', 'limits'];

/** All settings of the configuration file, as `section.field` or `field`. */
export const SETTING_NAMES: readonly string[] = [
  ...TOP.filter((name) => !(name in SECTIONS)),
  ...Object.entries(SECTIONS).flatMap(([section, names]) =>
    names.map((name) => `${section}.${name}`),
  ),
];

/** The settings that a file contains, by their names in `SETTING_NAMES`, with their raw values. */
type Settings = ReadonlyMap<string, unknown>;

/**
 * Reads the configuration file.
 * @throws ConfigError naming every problem at once, each with its line and field
 */
export async function loadConfig(path: string): Promise<AgentConfig> {
  return parseConfig(readText(path), path);
}

/**
 * Reads the settings that the configuration file contains, without defaults.
 * @throws ConfigError as `loadConfig`
 */
export async function loadSettings(path: string): Promise<Settings> {
  const text = readText(path);
  await parseConfig(text, path);
  const { root } = await parseYaml(text);
  const sections = new Set(Object.keys(SECTIONS));
  return new Map(
    entriesOf(root).flatMap(([name, value]): [string, unknown][] =>
      sections.has(name)
        ? entriesOf(value).map(([field, each]) => [`${name}.${field}`, each])
        : [[name, value]],
    ),
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/**
 * Parses a configuration.
 * @param fileName the file name in problems
 * @throws ConfigError as `loadConfig`
 */
export async function parseConfig(text: string, fileName: string): Promise<AgentConfig> {
  const { root, findLine, fault } = await parseYaml(text);
  if (fault !== null) throw new ConfigError([`${fileName}:${fault.line}: ${fault.text}`]);
  const problems: Problem[] = [];
  const config = readConfig(root, problems);
  if (problems.length === 0) return config;
  const located = problems
    .map(({ path, text: what }) => ({ line: findLine(path), field: path.join('.'), what }))
    .sort((one, other) => one.line - other.line);
  throw new ConfigError(
    located.map(({ line, field, what }) => `${fileName}:${line}: ${`${field} ${what}`.trim()}`),
  );
}

function readConfig(root: unknown, problems: Problem[]): AgentConfig {
  const top = new Fields(root ?? {}, [], TOP, problems);
  const tls = top.open('tls', TLS);
  const viewers = top.open('viewers', VIEWERS);
  const limits = top.open('limits', LIMITS);
  return {
    listen: readListen(top),
    intervalSeconds: top.integer('interval_seconds', 1, 60, 1),
    tls: {
      certificateFile: tls.text('certificate_file', FILE),
      keyFile: tls.text('key_file', FILE),
      clients: readClients(viewers),
    },
    serverName: tls.text('server_name', SERVER_NAME, null),
    refusesInHandshake: viewers.flag('refuse_in_handshake', false),
    tokensFile: viewers.text('tokens_file', FILE, null),
    allowedOrigins: new Set(viewers.texts('allowed_origins', ORIGIN).map(normalizeOrigin)),
    controlSocket: readControlSocket(top),
    maxConnections: limits.integer('connections', 1, 100_000, 2000),
    maxConnectionsPerAddress: limits.integer('connections_per_address', 1, 100_000, 64),
  };
}

/** Returns the origin as browsers send it: in lower case, without the default port. */
export function normalizeOrigin(text: string): string {
  return URL.parse(text)?.origin ?? text;
}

function readListen(top: Fields): AgentConfig['listen'] {
  const text = top.text('listen', LISTEN, '0.0.0.0:4096');
  const at = text.lastIndexOf(':');
  const host = text.slice(0, at).replaceAll(/[[\]]/gu, '');
  const port = Number(text.slice(at + 1));
  if (text !== '' && (isIP(host) === 0 || port < 1 || port > 65_535)) {
    top.reject('listen', `must be ${LISTEN.must}`);
  }
  return { host, port };
}

/** Null disables the socket; it is not the default. */
function readControlSocket(top: Fields): string | null {
  return top.isNull('control_socket') ? null : top.text('control_socket', SOCKET, CONTROL_SOCKET);
}

function readClients(viewers: Fields): AgentConfig['tls']['clients'] {
  const certificates = viewers.text('certificates', CERTIFICATES, 'off');
  const authorityFile = viewers.text('authority_file', FILE, null);
  const revocationFile = viewers.text('revocation_file', FILE, null);
  if (certificates === 'off') rejectUnused(viewers, { authorityFile, revocationFile });
  if (certificates !== 'required') return null;
  if (authorityFile !== null) return { authorityFile, revocationFile };
  viewers.reject('authority_file', 'is missing: required certificates need an authority');
  return null;
}

/** Rejects settings without effect: an operator who sets an authority expects certificates to be required. */
function rejectUnused(
  viewers: Fields,
  files: { readonly authorityFile: string | null; readonly revocationFile: string | null },
): void {
  const text = 'has no effect while certificates is off: set it to required, or remove this field';
  if (files.authorityFile !== null) viewers.reject('authority_file', text);
  if (files.revocationFile !== null) viewers.reject('revocation_file', text);
  if (viewers.flag('refuse_in_handshake', false)) viewers.reject('refuse_in_handshake', text);
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 64 KiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([explain(path, error)]);
  }
}

function explain(path: string, error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT') {
    return `The configuration ${path} does not exist: choose another one with --config, or write one from agent.example.yaml.`;
  }
  if (code === 'EACCES') {
    return `This account may not read the configuration ${path}: use sudo, or choose another one with --config.`;
  }
  const why = messageOf(error);
  return `The configuration ${path} cannot be read: ${why}`;
}
