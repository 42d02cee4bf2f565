import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { locate, type Machine } from './machine.ts';
import { look } from './path-state.ts';

/** Where certbot keeps what belongs to no certificate alone: accounts, requests, keys and its notes. */
const FILES = [
  '/etc/letsencrypt/accounts',
  '/etc/letsencrypt/csr',
  '/etc/letsencrypt/keys',
  '/etc/letsencrypt/live/README',
  '/etc/letsencrypt/.certbot.lock',
  '/var/lib/letsencrypt/.certbot.lock',
  '/var/log/letsencrypt/.certbot.lock',
];

/** What it makes when it is first used, the deepest first. */
const DIRECTORIES = [
  '/etc/letsencrypt/accounts',
  '/etc/letsencrypt/archive',
  '/etc/letsencrypt/csr',
  '/etc/letsencrypt/keys',
  '/etc/letsencrypt/live',
  '/etc/letsencrypt/renewal',
  '/etc/letsencrypt/renewal-hooks/deploy',
  '/etc/letsencrypt/renewal-hooks/post',
  '/etc/letsencrypt/renewal-hooks/pre',
  '/etc/letsencrypt/renewal-hooks',
  '/etc/letsencrypt',
  '/var/lib/letsencrypt/backups',
  '/var/lib/letsencrypt',
];

const LOGS = '/var/log/letsencrypt';

/** What there is of certbot beside its certificates. */
export function listTraces(machine: Machine): string[] {
  const files = FILES.flatMap((path) => [path, ...listBelow(machine, path)]);
  return [...files, ...DIRECTORIES, LOGS].filter((path) => look(locate(machine, path)) !== null);
}

/**
 * Removes what certbot has made since.
 * @param earlier what `listTraces` said before
 */
export function removeTraces(machine: Machine, earlier: readonly string[]): void {
  const kept = new Set(earlier);
  const added = listTraces(machine).filter((path) => !kept.has(path));
  for (const path of added) {
    const place = locate(machine, path);
    const isFile = look(place)?.isDirectory() === false;
    const isCertbots = FILES.some((each) => path.startsWith(each)) || path === LOGS;
    if (isFile || isCertbots) rmSync(place, { recursive: true, force: true });
    else if (existsSync(place) && readdirSync(place).length === 0) rmdirSync(place);
  }
}

/** Whether certbot renews any certificate, which may need what has come since. */
export function renewsAny(machine: Machine): boolean {
  return listBelow(machine, '/etc/letsencrypt/renewal').length > 0;
}

function listBelow(machine: Machine, path: string): string[] {
  const place = locate(machine, path);
  if (look(place)?.isDirectory() !== true) return [];
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return names.sort().map((name) => join(path, name));
}
