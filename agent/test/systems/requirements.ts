import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { listMissingTrees, PREPARE_COMMAND } from './trees.ts';

/** Programs, and the packages of Debian that contain them. */
const PROGRAMS: Record<string, string> = {
  'systemd-nspawn': 'systemd-container',
  pebble: 'pebble',
  'pebble-challtestsrv': 'pebble',
  openssl: 'openssl',
  ip: 'iproute2',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  curl: 'curl',
};

/** Set by `npm run test:systems` alone: these tests need minutes and every core. */
const SWITCH = 'LATCHKEY_SYSTEMS';

/** Returns why systems are not booted here, with the fix; null when they are. */
export function findMissingRequirement(): string | null {
  if (process.env[SWITCH] !== 'all') return 'npm run test:systems runs this';
  return findMissingTools(PROGRAMS) ?? findMissingRights() ?? findMissingTrees();
}

/** Returns why trees cannot be built here, with the fix; null when they can. */
export function findMissingBuildRequirement(): string | null {
  const programs = { ...PROGRAMS, debootstrap: 'debootstrap', 'apt-get': 'apt' };
  return findMissingTools(programs) ?? findMissingRights() ?? findMissingKeyring();
}

/** debootstrap verifies the mirror with it. Ubuntu has it in a package of its own. */
function findMissingKeyring(): string | null {
  if (existsSync('/usr/share/keyrings/debian-archive-keyring.gpg')) return null;
  return 'whole systems need the keys of Debian: apt-get install debian-archive-keyring';
}

function findMissingTools(programs: Record<string, string>): string | null {
  if (process.platform !== 'linux') return 'whole systems need Linux';
  if (process.getuid?.() !== 0) return 'whole systems need root';
  if (!readFileSync('/proc/filesystems', 'utf8').includes('\toverlay\n'))
    return 'whole systems need a kernel with overlayfs';
  const missing = Object.keys(programs).filter((program) => !isInPath(program));
  if (missing.length === 0) return null;
  const packages = new Set(missing.map((program) => programs[program]));
  return `whole systems need ${missing.join(', ')}: apt-get install ${[...packages].join(' ')}`;
}

/** Root in a container may lack the right. */
function findMissingRights(): string | null {
  const own = ['--mount', '--net', '--pid', '--fork'];
  const mount = ['mount', '-t', 'tmpfs', 'tmpfs', '/run'];
  if (spawnSync('unshare', [...own, ...mount]).status === 0) return null;
  return 'whole systems need the right to create namespaces and mounts';
}

function findMissingTrees(): string | null {
  const missing = listMissingTrees();
  return missing.length === 0 ? null : `no tree of ${missing.join(' and ')}: ${PREPARE_COMMAND}`;
}

function isInPath(program: string): boolean {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.some((directory) => existsSync(join(directory, program)));
}
