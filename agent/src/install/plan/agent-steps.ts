import { isIPv6 } from 'node:net';
import { dirname } from 'node:path';

import { renderAgentYaml } from '../files/agent-yaml.ts';
import { renderRenewalHook } from '../files/renewal-hook.ts';
import { renderRevocationsTimer, renderRevocationsUnit } from '../files/revocations-units.ts';
import { renderServiceUnit } from '../files/service-unit.ts';
import type { HostFacts, InstalledFacts, InstallMode } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { agentUnit, agentUser, paths } from '../paths.ts';
import type { FileStep, OwnCertificateStep, Step } from '../steps.ts';

const DEFAULT_INTERVAL_SECONDS = 1;

/** The program, its user and its directories: what everything else is put upon. */
export function listGroundSteps(facts: HostFacts, needsCertbot: boolean): readonly Step[] {
  const names = [
    ...(needsCertbot && !facts.hasCertbot ? ['certbot'] : []),
    ...(facts.hasOpenssl ? [] : ['openssl']),
  ];
  const configuration = dirname(paths.configuration);
  return [
    ...(names.length === 0 ? [] : [{ kind: 'packages', names } as const]),
    { kind: 'user', name: agentUser },
    { kind: 'program', from: facts.packageDirectory ?? paths.program, to: paths.program },
    { kind: 'link', path: paths.command, target: `${paths.program}/bin/latchkey-agent` },
    { kind: 'directory', path: configuration, mode: 0o755, group: 'root' },
    { kind: 'directory', path: dirname(paths.certificate), mode: 0o750, group: agentUser },
  ];
}

/** The agent at work: its certificate, its configuration, its units. */
export function listAgentSteps(
  options: InstallOptions,
  mode: InstallMode,
  source: OwnCertificateStep['source'],
  facts: HostFacts,
): readonly Step[] {
  const { domain, mutualTls } = options;
  const withProxyCertificate = mode === 'proxy';
  return [
    { kind: 'own-certificate', domain, source },
    ...(mutualTls ? [{ kind: 'authority', domain, withProxyCertificate } as const] : []),
    writeConfiguration(options, mode, facts),
    writeForAll(paths.unit, renderServiceUnit()),
    ...(mutualTls
      ? [
          writeForAll(paths.revocationsUnit, renderRevocationsUnit()),
          writeForAll(paths.revocationsTimer, renderRevocationsTimer()),
        ]
      : []),
    { kind: 'service', unit: agentUnit },
    ...(mutualTls ? [{ kind: 'service', unit: REVOCATIONS_TIMER } as const] : []),
  ];
}

const REVOCATIONS_TIMER = paths.revocationsTimer.slice(dirname(paths.revocationsTimer).length + 1);

/** What certbot runs after a renewal; none where the certificate is not certbot's. */
export function listHookSteps(mode: InstallMode, lineage: string | null): readonly Step[] {
  if (lineage === null) return [];
  const hook = writeForAll(paths.renewalHook, renderRenewalHook(mode, lineage));
  return [{ ...hook, mode: 0o755 }];
}

/** Whether the configuration that is there stays: it fits what is asked for, and people may have changed it. */
export function keepsConfiguration(
  { domain, mutualTls }: Pick<InstallOptions, 'domain' | 'mutualTls'>,
  mode: InstallMode,
  installed: InstalledFacts | null,
): boolean {
  if (installed === null) return false;
  const isSame = installed.domain === domain && installed.mode === mode;
  return isSame && installed.mutualTls === mutualTls;
}

function writeConfiguration(
  options: InstallOptions,
  mode: InstallMode,
  { installed, domainAddresses }: HostFacts,
): FileStep {
  const { domain, mutualTls } = options;
  const isIpv6Only = domainAddresses.length > 0 && domainAddresses.every(isIPv6);
  const intervalSeconds = options.scrapeIntervalSeconds ?? DEFAULT_INTERVAL_SECONDS;
  return {
    kind: 'file',
    path: paths.configuration,
    text: renderAgentYaml({ domain, mode, mutualTls, intervalSeconds, isIpv6Only }),
    mode: 0o640,
    group: agentUser,
    keepsExisting: keepsConfiguration(options, mode, installed),
  };
}

function writeForAll(path: string, text: string): FileStep {
  return { kind: 'file', path, text, mode: 0o644, group: 'root', keepsExisting: false };
}
