/** Root trees of Debian, built once by debootstrap and kept outside the repository; machines are booted on them. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { succeed } from './commands.ts';

export type Release = 'bookworm' | 'trixie';

export const RELEASES: Record<Release, string> = { bookworm: 'Debian 12', trixie: 'Debian 13' };

export const PREPARE_COMMAND = 'npm run test:systems -- --prepare';

/** Packages that debootstrap installs. */
const BASE = ['ca-certificates', 'dbus', 'iproute2', 'procps', 'systemd', 'systemd-sysv'];

/**
 * Packages that apt adds, because debootstrap cannot choose among providers. Machines reach no mirror, so everything that an
 * installation may need is there.
 */
const PACKAGES = [
  'apache2',
  'certbot',
  'curl',
  'libstdc++6',
  'nftables',
  'nginx',
  'openssl',
  'ufw',
];

const DISABLED_UNITS = ['apache2.service', 'nginx.service', 'ufw.service'];

const PUBLIC_MIRROR = 'http://deb.debian.org/debian/';

/** They would change files at any time. */
const MASKED_UNITS = [
  'apache-htcacheclean.service',
  'apt-daily-upgrade.timer',
  'apt-daily.timer',
  'dpkg-db-backup.timer',
];

/** What debootstrap mounts is unmounted with it, even when it is killed: the next one may then remove the rest of the tree. */
const OWN_MOUNTS = ['unshare', '--mount'];

const LONG = {
  timeoutMs: 15 * 60_000,
  env: {
    PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
  },
};

/** Returns the path of a release's tree: a different list of packages is another tree. */
export function treePath(release: Release): string {
  const recipe = JSON.stringify([BASE, PACKAGES, DISABLED_UNITS, MASKED_UNITS]);
  const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(cache, 'latchkey', 'systems', `${release}-${hash}`);
}

export function listMissingTrees(): Release[] {
  return (['bookworm', 'trixie'] as const).filter((release) => !existsSync(treePath(release)));
}

/**
 * Builds the tree of a release, from a mirror whose signature is verified.
 * @throws Error with debootstrap's output
 */
export async function buildTree(release: Release): Promise<void> {
  const path = treePath(release);
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const mirror = await findMirror();
  const include = `--include=${BASE.join(',')}`;
  const lay = [
    'debootstrap',
    '--force-check-gpg',
    '--variant=minbase',
    include,
    release,
    unfinished,
    mirror,
  ];
  await succeed([...OWN_MOUNTS, ...lay], LONG);
  await addPackages(unfinished);
  await rm(join(unfinished, 'etc/resolv.conf'), { force: true });
  await writeFile(join(unfinished, 'etc/resolv.conf'), '');
  await rename(unfinished, path);
}

async function addPackages(tree: string): Promise<void> {
  const run = (...command: readonly string[]) =>
    succeed([...OWN_MOUNTS, 'chroot', tree, ...command], LONG);
  const policy = join(tree, 'usr/sbin/policy-rc.d');
  // No service may start while the tree is built.
  await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  await run('apt-get', 'update');
  await run('apt-get', 'install', '--yes', '--no-install-recommends', ...PACKAGES);
  await rm(policy);
  await run('systemctl', 'disable', ...DISABLED_UNITS);
  await run('systemctl', 'mask', ...MASKED_UNITS);
  await run('apt-get', 'clean');
}

/** The mirror of LATCHKEY_TEST_DEBIAN_MIRROR, or that of this machine's apt, or where apt knows none (on Ubuntu), the public one. */
export async function findMirror(): Promise<string> {
  const fields = ['Created-By: Packages', 'Origin: Debian', 'Label: Debian'];
  const output = await succeed(['apt-get', 'indextargets', '--format', '$(REPO_URI)', ...fields]);
  return chooseMirror(process.env['LATCHKEY_TEST_DEBIAN_MIRROR'], output);
}

/** @param known the mirrors that apt knows, one on each line */
export function chooseMirror(setting: string | undefined, known: string): string {
  const [own = ''] = known.split('\n');
  return [setting, own].find((each) => each !== undefined && each !== '') ?? PUBLIC_MIRROR;
}
