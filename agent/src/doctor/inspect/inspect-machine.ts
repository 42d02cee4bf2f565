import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

import { checkEnvironment } from '../../config/check-environment.ts';
import { type AgentConfig, ConfigError } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { detectAddresses, findAddresses } from '../../install/detect/addresses.ts';
import { detectCertificate } from '../../install/detect/certificates.ts';
import { detectFirewall } from '../../install/detect/firewall.ts';
import { detectInstalled } from '../../install/detect/installed.ts';
import { detectListeners } from '../../install/detect/listeners.ts';
import { detectNginx } from '../../install/detect/nginx.ts';
import { detectSelinux } from '../../install/detect/selinux.ts';
import type { CertificateFacts, InstalledFacts } from '../../install/facts.ts';
import { AGENT_PORT, paths } from '../../install/paths.ts';
import type { Detection, RunProgram } from '../../system/run-program.ts';
import { type ChallengeAnswer, requestChallenge } from '../../install/verify/challenge.ts';
import { probeProxy } from '../../install/verify/probe-proxy.ts';
import { type ClientCertificate, requestPage, type Target } from '../../install/verify/request.ts';
import { checkAgentHealth } from '../../service/client.ts';
import { listTlsFiles, readTlsMaterial } from '../../tls/tls-files.ts';
import type {
  Answer,
  ConfigurationStatus,
  DomainStatus,
  Inspection,
  OriginStatus,
  ProxyStatus,
  RevocationsStatus,
} from './inspection.ts';
import { inspectOrigins } from './origins.ts';
import {
  inspectFirewall,
  inspectUnit,
  isClockSynchronized,
  isUnitActive,
  listUnreadable,
} from './programs.ts';

const REVOCATIONS_TIMER = 'latchkey-agent-revocations.timer';

/** Reads the facts that the checks examine, within seconds, and changes nothing. */
export async function inspectMachine(
  configPath: string,
  runProgram: RunProgram,
  now: Date,
): Promise<Inspection> {
  const detection: Detection = { root: '', runProgram };
  const { installed } = detectInstalled(detection);
  const reading = await readConfiguration(configPath);
  const { config } = reading;
  const ports = [80, 443, config?.listen.port ?? AGENT_PORT];
  const listeners = detectListeners(detection, ports);
  const renewal = installed === null ? null : detectCertificate(detection, installed.domain, now);
  // In parallel, because several are slow.
  const [configuration, ...others] = await Promise.all([
    inspectConfiguration(configPath, reading, runProgram, now),
    config === null ? null : checkAgentHealth(config),
    installed?.mode === 'proxy' ? inspectProxy(installed) : null,
    inspectDomain(installed),
    inspectUnit(runProgram),
    detectNginx(detection, listeners),
    detectFirewall(detection).then((tool) => inspectFirewall(runProgram, tool, ports)),
    inspectRevocations(config, runProgram),
    isClockSynchronized(runProgram),
    detectSelinux(detection),
    inspectChallenges(renewal),
    config === null ? [] : inspectAllowedOrigins(config, installed),
  ]);
  const [agentFault, proxy, domain, unit, nginx, firewall, revocations, ...rest] = others;
  const [isSynchronized, selinux, challenges, origins] = rest;
  return {
    now,
    isRoot: process.getuid?.() === 0,
    installed,
    configuration,
    unit,
    listeners,
    agentFault,
    domain,
    nginx,
    proxy,
    origins,
    firewall,
    selinux,
    renewal,
    challenges,
    isCertificateOutdated:
      renewal !== null &&
      installed?.mode === 'standalone' &&
      isCertificateOutdated(renewal, config),
    revocations,
    isClockSynchronized: isSynchronized,
  };
}

/** Requests the challenge probe as an authority does, where a renewal needs answers from the challenge directory. */
async function inspectChallenges(renewal: CertificateFacts | null): Promise<ChallengeAnswer[]> {
  if (renewal?.webroots.includes(paths.challenges) !== true) return [];
  const { addresses } = await findAddresses(renewal.name);
  return requestChallenge(renewal.name, addresses, detectAddresses());
}

/** Whether the agent has a copy of an older certificate than certbot's. */
function isCertificateOutdated(renewal: CertificateFacts, config: AgentConfig | null): boolean {
  const file = config?.tls.certificateFile;
  const [copy, kept] = [file, `${renewal.directory}/fullchain.pem`].map((path) =>
    path === undefined || !existsSync(path) ? null : new X509Certificate(readFileSync(path)),
  );
  if (copy == null || kept == null || copy.serialNumber === kept.serialNumber) return false;
  return copy.validToDate < kept.validToDate;
}

async function inspectDomain(installed: InstalledFacts | null): Promise<DomainStatus | null> {
  if (installed === null) return null;
  const lookup = await findAddresses(installed.domain);
  return { name: installed.domain, ...lookup, ownAddresses: detectAddresses() };
}

/** Returns null where client certificates are not required, and where the files are invalid, which another check reports. */
async function inspectRevocations(
  config: AgentConfig | null,
  runProgram: RunProgram,
): Promise<RevocationsStatus | null> {
  const path = config?.tls.clients?.revocationFile ?? null;
  if (config === null || path === null) return null;
  const isTimerActive = await isUnitActive(runProgram, REVOCATIONS_TIMER);
  try {
    const nextUpdate = readTlsMaterial(config.tls).clients?.revocations.nextUpdate ?? null;
    return { path, nextUpdate, isTimerActive };
  } catch {
    return null;
  }
}

/** A configuration, or the problems with it. */
type Reading =
  | { readonly config: AgentConfig; readonly problems: null }
  | { readonly config: null; readonly problems: readonly string[] };

async function readConfiguration(path: string): Promise<Reading> {
  try {
    return { config: await loadConfig(path), problems: null };
  } catch (error) {
    if (error instanceof ConfigError) return { config: null, problems: error.problems };
    throw error;
  }
}

/** Reads the configuration, and checks its files and whether the agent's user may read them. */
async function inspectConfiguration(
  path: string,
  { config, problems }: Reading,
  runProgram: RunProgram,
  now: Date,
): Promise<ConfigurationStatus> {
  if (config === null) return { kind: 'invalid', path, problems };
  const files = [...listTlsFiles(config.tls), config.tokensFile].filter((file) => file !== null);
  const [findings, unreadable] = await Promise.all([
    checkEnvironment(config, now),
    listUnreadable(runProgram, files),
  ]);
  return { kind: 'read', path, config, findings, unreadable };
}

const HTTPS_PORT = 443;

/** Requests health and route from the local proxy, without and with a client certificate. */
async function inspectProxy({
  domain,
  proxyPath,
  mutualTls,
}: InstalledFacts): Promise<ProxyStatus> {
  const identity = mutualTls ? readIdentity() : null;
  const { host } = await probeProxy({ domain, proxyPath });
  const target = { host, port: HTTPS_PORT, domain, path: proxyPath };
  const [health, route, routeWithCertificate] = await Promise.all([
    ask({ ...target, path: `${proxyPath}/health` }),
    ask(target),
    identity === null ? null : ask({ ...target, path: `${proxyPath}?admission` }, identity),
  ]);
  return { health, route, routeWithCertificate };
}

async function inspectAllowedOrigins(
  config: AgentConfig,
  installed: InstalledFacts | null,
): Promise<OriginStatus[]> {
  if (config.allowedOrigins.size === 0) return [];
  const isProxied = installed?.mode === 'proxy';
  const proxyHost = isProxied ? (await probeProxy(installed)).host : null;
  const identity = installed?.mutualTls === true ? readIdentity() : null;
  return inspectOrigins(config, installed, proxyHost, identity);
}

/** Returns the proxy's own certificate, signed by the authority; null when it cannot be read. */
function readIdentity(): ClientCertificate | null {
  try {
    return {
      cert: readFileSync(paths.proxyCertificate, 'utf8'),
      key: readFileSync(paths.proxyCertificateKey, 'utf8'),
    };
  } catch {
    return null;
  }
}

async function ask(target: Target, shown: ClientCertificate | null = null): Promise<Answer> {
  const { status, body, isRefusedByAgent, fault, code } = await requestPage(target, shown);
  return status === null
    ? { status, fault: fault ?? 'no answer', code }
    : { status, body, isRefusedByAgent };
}
