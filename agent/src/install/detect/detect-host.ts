import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

import { findProgram } from '../../read/program.ts';
import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { AGENT_PORT } from '../paths.ts';
import { detectIpv6, type NameLookup } from './addresses.ts';
import { detectCertificate, findGivenFault } from './certificates.ts';
import { detectCertificateUses, detectChallenged } from './certificate-uses.ts';
import { detectConfiguration } from './configuration.ts';
import type { Detection } from './detection.ts';
import { detectDistribution } from './distribution.ts';
import { detectFirewall } from './firewall.ts';
import { detectInstalled } from './installed.ts';
import { detectListeners } from './listeners.ts';
import { detectNginx } from './nginx.ts';
import { listReadOnly } from './read-only.ts';
import { detectSelinux } from './selinux.ts';
import { isRefusedByUfw } from './ufw-rules.ts';

const HTTP_PORT = 80;

/** What only the outside of a program knows. */
export interface Surroundings {
  readonly now: Date;
  readonly isRoot: boolean;
  /** Of the Node.js that runs. */
  readonly packageDirectory: string | null;
  readonly addresses: readonly string[];
  readonly findAddresses: (name: string) => Promise<NameLookup>;
}

/** Where distributions have programs; the caller's own path may lack those of administrators. */
const SEARCH_PATH = [
  'usr/local/sbin',
  'usr/local/bin',
  'usr/sbin',
  'usr/bin',
  'sbin',
  'bin',
  'snap/bin',
];

/** Looks at all that the plan of an installation depends on, and changes nothing. */
export async function detectHost(
  detection: Detection,
  options: Pick<InstallOptions, 'certificateFiles' | 'domain'>,
  surroundings: Surroundings,
): Promise<HostFacts> {
  const { now, isRoot, packageDirectory, addresses } = surroundings;
  const { configured, faults } = await detectConfiguration(detection);
  const ports = [HTTP_PORT, 443, AGENT_PORT, ...(configured === null ? [] : [configured.port])];
  const listeners = detectListeners(detection, ports);
  const [nginx, firewall, certificateUses, selinux, lookup] = await Promise.all([
    detectNginx(detection, listeners),
    detectFirewall(detection),
    detectCertificateUses(detection),
    detectSelinux(detection),
    surroundings.findAddresses(options.domain),
  ]);
  const { installed, fault } = detectInstalled(detection);
  return {
    isRoot,
    hasSystemd: existsSync(join(detection.root, '/run/systemd/system')),
    hasApt: hasProgram(detection, 'apt-get'),
    hasCertbot: hasProgram(detection, 'certbot'),
    hasOpenssl: hasProgram(detection, 'openssl'),
    smartctl: locateProgram(detection, 'smartctl'),
    nvidiaModprobe: locateProgram(detection, 'nvidia-modprobe'),
    packageDirectory,
    distribution: detectDistribution(detection),
    hasIpv6: detectIpv6(detection),
    listeners,
    nginx,
    firewall,
    isPort80Refused: firewall === 'ufw' && isRefusedByUfw(detection, HTTP_PORT),
    selinux,
    addresses,
    domainAddresses: lookup.addresses,
    resolverFault: lookup.resolverFault,
    certificate: detectCertificate(detection, options.domain, now),
    certificateUses,
    challenged: detectChallenged(detection),
    givenCertificateFault: findGivenFault(detection, options, now),
    installed,
    configured,
    faults: [...(fault === null ? [] : [fault]), ...faults, ...listReadOnly(detection)],
  };
}

function hasProgram(detection: Detection, name: string): boolean {
  return locateProgram(detection, name) !== null;
}

function locateProgram({ root }: Detection, name: string): string | null {
  const path = SEARCH_PATH.map((directory) => join(root, '/', directory)).join(':');
  const found = findProgram(name, path);
  return found === null ? null : join('/', relative(join(root, '/'), found));
}
