import { isIPv6 } from 'node:net';

import type { ConfiguredFacts, HostFacts, InstalledFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { AGENT_PORT, paths } from '../paths.ts';

type Settings = ReadonlyMap<string, unknown>;

const DEFAULT_INTERVAL_SECONDS = 1;

const LOOPBACK = new Set(['127.0.0.1', '::1']);

const WEB_PORTS = new Set([80, 443]);

const CERTIFICATE = 'tls.certificate_file';
const KEY = 'tls.key_file';
const SERVER_NAME = 'tls.server_name';
const CERTIFICATES = 'viewers.certificates';
const AUTHORITY = 'viewers.authority_file';
const REVOCATIONS = 'viewers.revocation_file';
const ORIGINS = 'viewers.allowed_origins';
const IN_HANDSHAKE = 'viewers.refuse_in_handshake';

/**
 * Returns every setting of the agent's configuration. Settings of the administrator are kept; an installation sets only those
 * that depend on its domain, mode and mutual TLS.
 */
export function planSettings(
  options: InstallOptions,
  mode: InstallMode,
  facts: HostFacts,
): Settings {
  const { configured, installed } = facts;
  const before: Settings = configured?.settings ?? new Map();
  const interval = before.get('interval_seconds') ?? DEFAULT_INTERVAL_SECONDS;
  const isSameDomain = installed?.domain === options.domain;
  return new Map<string, unknown>([
    ...before,
    ['listen', formatListen(planListen(mode, facts))],
    ['interval_seconds', options.scrapeIntervalSeconds ?? interval],
    ...planCertificate(before, isSameDomain && installed.mode === mode),
    [SERVER_NAME, (isSameDomain ? before.get(SERVER_NAME) : null) ?? options.domain],
    ...planAdmission(options, before),
    ...(options.allowedOrigins === null
      ? []
      : [[ORIGINS, options.allowedOrigins] satisfies [string, unknown]]),
  ]);
}

/**
 * Explains in sentences why settings that restrict viewers cannot be kept. Only the administrator may remove a restriction, so
 * they block the installation.
 */
export function listSettingBlockers(
  options: InstallOptions,
  mode: InstallMode,
  { configured, installed }: Pick<HostFacts, 'configured' | 'installed'>,
): readonly string[] {
  const before: Settings = configured?.settings ?? new Map();
  if (keepsConfiguration(options, mode, installed) || !isRequired(before)) return [];
  const authority = String(before.get(AUTHORITY));
  const isOurs = authority === paths.authorityCertificate;
  const off = `set viewers.certificates to off in ${paths.configuration} and remove authority_file and revocation_file`;
  if (options.mutualTls && !isOurs) {
    return [
      `${paths.configuration} requires client certificates of ${authority}, and --mtls would replace that authority by one of this program: install with --mtls no, or ${off} first.`,
    ];
  }
  if (!options.mutualTls && isOurs && installed?.mutualTls !== true) {
    return [
      `${paths.configuration} requires client certificates, and this installation would not: install with --mtls, or ${off} first.`,
    ];
  }
  if (!options.mutualTls && !isOurs && mode === 'proxy') {
    return [
      `${paths.configuration} requires client certificates of ${authority}, which a reverse proxy cannot forward: install with --mode standalone, or ${off} first.`,
    ];
  }
  return [];
}

/** Lists the settings that an installation changes, as `listen: 0.0.0.0:4096 instead of 127.0.0.1:4096`. */
export function describeChanges(before: Settings, after: Settings): readonly string[] {
  const isOther = (name: string): boolean =>
    JSON.stringify(before.get(name) ?? null) !== JSON.stringify(after.get(name) ?? null);
  return [...before.keys()]
    .filter((name) => before.get(name) !== null && isOther(name))
    .map((name) => `${name}: ${show(after.get(name))} instead of ${show(before.get(name))}`);
}

/** Returns the address and port that the agent will listen on. */
export function planListen(
  mode: InstallMode,
  { configured, domainAddresses }: Pick<HostFacts, 'configured' | 'domainAddresses'>,
): Pick<ConfiguredFacts, 'host' | 'port'> {
  const port = configured?.port ?? AGENT_PORT;
  if (mode === 'proxy') {
    return { host: '127.0.0.1', port: WEB_PORTS.has(port) ? AGENT_PORT : port };
  }
  const isIpv6Only = domainAddresses.length > 0 && domainAddresses.every(isIPv6);
  const byDefault = isIpv6Only ? '::' : '0.0.0.0';
  const host = configured?.host ?? byDefault;
  return { host: LOOPBACK.has(host) || host === '0.0.0.0' ? byDefault : host, port };
}

function formatListen({ host, port }: Pick<ConfiguredFacts, 'host' | 'port'>): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Keeps the administrator's own certificate for the domain and mode that it was chosen for. */
function planCertificate(before: Settings, isSame: boolean): [string, unknown][] {
  const own = isSame ? before : new Map<string, unknown>();
  return [
    [CERTIFICATE, own.get(CERTIFICATE) ?? paths.certificate],
    [KEY, own.get(KEY) ?? paths.certificateKey],
  ];
}

function planAdmission({ mutualTls }: InstallOptions, before: Settings): [string, unknown][] {
  if (mutualTls) {
    return [
      [CERTIFICATES, 'required'],
      [AUTHORITY, paths.authorityCertificate],
      [REVOCATIONS, paths.revocations],
    ];
  }
  if (isRequired(before) && before.get(AUTHORITY) !== paths.authorityCertificate) return [];
  return [
    [CERTIFICATES, 'off'],
    [AUTHORITY, null],
    [REVOCATIONS, null],
    // The agent rejects it without client certificates.
    ...(before.has(IN_HANDSHAKE) ? [[IN_HANDSHAKE, false] satisfies [string, unknown]] : []),
  ];
}

function isRequired(settings: Settings): boolean {
  return settings.get(CERTIFICATES) === 'required';
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

/** Whether the configuration file is kept: it matches the options, and the administrator may have changed it. */
export function keepsConfiguration(
  { domain, mutualTls }: Pick<InstallOptions, 'domain' | 'mutualTls'>,
  mode: InstallMode,
  installed: InstalledFacts | null,
): boolean {
  if (installed === null) return false;
  const isSame = installed.domain === domain && installed.mode === mode;
  return isSame && installed.mutualTls === mutualTls;
}

/** Returns the port that the agent will listen on, which its configuration may change. */
export function findAgentPort(
  options: InstallOptions,
  mode: InstallMode,
  facts: Pick<HostFacts, 'configured' | 'domainAddresses' | 'installed'>,
): number {
  const { installed, configured } = facts;
  const isKept = configured !== null && keepsConfiguration(options, mode, installed);
  return isKept ? configured.port : planListen(mode, facts).port;
}
