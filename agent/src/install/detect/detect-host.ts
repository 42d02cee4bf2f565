// Detection: reads the facts of a machine that an installation depends on, and changes nothing.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { findProgram, readOsRelease, readText } from '../../read/small-file.ts';
import type { HostFacts } from '../facts.ts';
import type { InstallOptions } from '../options.ts';
import { AGENT_PORT, paths } from '../paths.ts';
import type { Detection } from '../../system/run-program.ts';
import { detectIpv6, type NameLookup } from './addresses.ts';
import {
  detectCertificate,
  detectCertificateUses,
  detectChallenged,
  findGivenFault,
} from './certificates.ts';
import { detectFirewall, isRefusedByUfw } from './firewall.ts';
import { detectConfiguration, detectInstalled } from './installed.ts';
import { detectListeners } from './listeners.ts';
import { detectNginx } from './nginx.ts';
import { detectSelinux } from './selinux.ts';

const HTTP_PORT = 80;

/** Facts from outside of the file system. */
export interface Surroundings {
  readonly now: Date;
  readonly isRoot: boolean;
  /** Of the running Node.js. */
  readonly packageDirectory: string | null;
  readonly addresses: readonly string[];
  readonly findAddresses: (name: string) => Promise<NameLookup>;
}

/** Where distributions install programs; the caller's PATH may lack the directories of administrators. */
const SEARCH_PATH = [
  'usr/local/sbin',
  'usr/local/bin',
  'usr/sbin',
  'usr/bin',
  'sbin',
  'bin',
  'snap/bin',
];

/** Detects everything that a plan depends on, and changes nothing. */
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
    faults: [
      ...(fault === null ? [] : [fault]),
      ...faults,
      ...listReadOnly(detection),
      ...listForeignProgram(detection, packageDirectory),
    ],
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

/** Detects the distribution; fields that it does not name are empty. */
function detectDistribution({ root }: Detection): HostFacts['distribution'] {
  const places = ['etc/os-release', 'usr/lib/os-release'];
  const release = readOsRelease(places.map((path) => join(root, '/', path)));
  const id = release.get('ID') ?? '';
  const name = release.get('PRETTY_NAME') || id;
  return { id, versionId: release.get('VERSION_ID') ?? '', name };
}

/** Where dpkg lists the files of the agent's Debian package. */
const DEBIAN_FILES = '/var/lib/dpkg/info/latchkey-agent.list';

/** Returns a sentence when the program belongs to the Debian package, and another one would replace it. */
function listForeignProgram(
  { root }: Pick<Detection, 'root'>,
  packageDirectory: string | null,
): string[] {
  const files = readText(join(root, DEBIAN_FILES))?.split('\n') ?? [];
  if (packageDirectory === paths.program || !files.includes(paths.program)) return [];
  return [
    `The Debian package latchkey-agent is installed: run ${paths.command} install, upgrade with apt, or remove the package and run this again.`,
  ];
}

/** The directories that every installation writes to. */
const WRITTEN = ['/etc', '/usr/bin', '/usr/lib', '/var/lib'];

/** Returns a sentence for each of them that is read-only, as on some appliances. */
function listReadOnly({ root }: Pick<Detection, 'root'>): string[] {
  return WRITTEN.filter((path) => isReadOnly(join(root, path))).map(
    (path) =>
      `${path} is on a read-only file system: make it writable (mount -o remount,rw) and run this again.`,
  );
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}

/**
 * Returns the directory of the package that a program was started from.
 * @param node the path of the running Node.js, which is in the package's `lib`
 * @returns null when it runs from its sources
 */
export function findPackage(node: string): string | null {
  const folder = dirname(dirname(node));
  const isPackage = existsSync(join(folder, 'bin/latchkey-agent'));
  return isPackage ? folder : null;
}
