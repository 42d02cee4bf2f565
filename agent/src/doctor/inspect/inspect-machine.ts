import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

import { askHealth } from '../../service/client.ts';
import type { AgentConfig } from '../../config/config.ts';
import { detectAddresses, findAddresses } from '../../install/detect/addresses.ts';
import { detectCertificate } from '../../install/detect/certificates.ts';
import type { Detection, RunProgram } from '../../install/run-program.ts';
import { detectFirewall } from '../../install/detect/firewall.ts';
import { detectInstalled } from '../../install/detect/installed.ts';
import { detectListeners } from '../../install/detect/listeners.ts';
import { detectNginx } from '../../install/detect/nginx.ts';
import { detectSelinux } from '../../install/detect/selinux.ts';
import type { CertificateFacts, InstalledFacts } from '../../install/facts.ts';
import { AGENT_PORT, paths } from '../../install/paths.ts';
import { requestChallenge, type ChallengeAnswer } from '../../install/verify/challenge.ts';
import { readTlsMaterial } from '../../tls/tls-files.ts';
import { inspectProxy } from './ask-proxy.ts';
import { inspectConfiguration, readConfiguration } from './inspect-configuration.ts';
import type { DomainStatus, Inspection, RevocationsStatus } from './inspection.ts';
import { isClockSynchronized, isUnitActive, inspectFirewall, inspectUnit } from './programs.ts';

const REVOCATIONS_TIMER = 'latchkey-agent-revocations.timer';

/** Looks at everything that the checks are about, and changes nothing. It takes some seconds at most. */
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
  // What is slow is slow at the same time.
  const [configuration, ...others] = await Promise.all([
    inspectConfiguration(configPath, reading, runProgram, now),
    config === null ? null : askHealth(config),
    installed?.mode === 'proxy' ? inspectProxy(installed) : null,
    inspectDomain(installed),
    inspectUnit(runProgram),
    detectNginx(detection, listeners),
    detectFirewall(detection).then((tool) => inspectFirewall(runProgram, tool, ports)),
    inspectRevocations(config, runProgram),
    isClockSynchronized(runProgram),
    detectSelinux(detection),
    inspectChallenges(renewal),
  ]);
  const [agentFault, proxy, domain, unit, nginx, firewall, revocations, ...rest] = others;
  const [isSynchronized, selinux, challenges] = rest;
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
    firewall,
    selinux,
    renewal,
    challenges,
    isCopyOld: renewal !== null && installed?.mode === 'standalone' && isCopyOld(renewal, config),
    revocations,
    isClockSynchronized: isSynchronized,
  };
}

/** Asks as an authority does, where a renewal needs our answers. */
async function inspectChallenges(renewal: CertificateFacts | null): Promise<ChallengeAnswer[]> {
  if (renewal?.webroots.includes(paths.challenges) !== true) return [];
  const { addresses } = await findAddresses(renewal.name);
  return requestChallenge(renewal.name, addresses, detectAddresses());
}

/** Whether the agent has a copy of an older certificate than certbot keeps. */
function isCopyOld(renewal: CertificateFacts, config: AgentConfig | null): boolean {
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

/** Null where no client certificates are asked for, and where the files cannot be used, which another check tells. */
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
