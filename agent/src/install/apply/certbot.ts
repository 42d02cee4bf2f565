import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { paths } from '../paths.ts';
import { locate, type Machine } from './machine.ts';
import { lstatOrNull } from './path-state.ts';

const LETSENCRYPT = '/etc/letsencrypt';
const ACCOUNTS = `${LETSENCRYPT}/accounts`;
const RENEWALS = `${LETSENCRYPT}/renewal`;
const LOGS = '/var/log/letsencrypt';

/** Files that certbot writes beside accounts and certificates, and never reads again. */
const DEBRIS = [
  `${LETSENCRYPT}/csr`,
  `${LETSENCRYPT}/keys`,
  `${LETSENCRYPT}/live/README`,
  `${LETSENCRYPT}/.certbot.lock`,
  '/var/lib/letsencrypt/.certbot.lock',
  `${LOGS}/.certbot.lock`,
];

/** Directories that certbot creates at its first use, deepest first. */
const DIRECTORIES = [
  ACCOUNTS,
  `${LETSENCRYPT}/archive`,
  `${LETSENCRYPT}/csr`,
  `${LETSENCRYPT}/keys`,
  `${LETSENCRYPT}/live`,
  RENEWALS,
  `${LETSENCRYPT}/renewal-hooks/deploy`,
  `${LETSENCRYPT}/renewal-hooks/post`,
  `${LETSENCRYPT}/renewal-hooks/pre`,
  `${LETSENCRYPT}/renewal-hooks`,
  LETSENCRYPT,
  '/var/lib/letsencrypt/backups',
  '/var/lib/letsencrypt',
  LOGS,
];

/** certbot registers its account first, and gets a certificate within the second time. */
const REGISTRATION_MS = 60_000;
const ISSUE_MS = 300_000;

/** File timestamps of the kernel lag by a few milliseconds. */
const CLOCK_LAG_MS = 1_000;

/** Returns the paths of certbot beside its certificates. */
export function listTraces(machine: Machine): string[] {
  const files = [ACCOUNTS, ...DEBRIS].flatMap((path) => listBelow(machine, path));
  return [...new Set([...files, ...DIRECTORIES])].filter((path) => exists(machine, path));
}

/** Identifies the traces of one run. */
export interface OwnTraces {
  /** The result of `listTraces` before the run. */
  readonly earlier: readonly string[];
  /** The ACME accounts that the run registered. */
  readonly accounts: readonly string[];
  /** The start of an interrupted run, of which nothing else is known. */
  readonly interruptedAt: Date | null;
}

/**
 * Removes what a run of certbot left beside its certificate. Keeps an account that renews any certificate, and everything that
 * others may have added.
 */
export function removeTraces(machine: Machine, { earlier, ...own }: OwnTraces): void {
  const added = listTraces(machine).filter((path) => !earlier.includes(path));
  const { interruptedAt: startedAt } = own;
  const isRecent = (path: string, lastsMs: number) =>
    startedAt !== null && isChangedWithin(machine, path, startedAt, lastsMs);
  for (const account of listAccounts(machine, added)) {
    const isOwn = own.accounts.includes(account) || isRecent(account, REGISTRATION_MS);
    if (isOwn && !isUsed(machine, account)) removeAll(machine, account);
  }
  const isUnused = listRenewals(machine).length === 0;
  for (const path of added.filter(isDebris)) {
    const isFile = lstatOrNull(locate(machine, path))?.isDirectory() === false;
    if (isFile && (isUnused || isRecent(path, ISSUE_MS))) removeAll(machine, path);
  }
  if (isUnused && added.includes(LOGS) && !holdsForeignFiles(machine)) removeAll(machine, LOGS);
  for (const path of [...added].sort(deepestFirst)) removeIfEmpty(machine, path);
}

/** Whether an interrupted run may have issued a certificate, rather than a later one. */
export function isIssuedWithin(machine: Machine, lineage: string, startedAt: Date): boolean {
  const first = `${LETSENCRYPT}/archive/${lineage}/cert1.pem`;
  return !exists(machine, first) || isChangedWithin(machine, first, startedAt, ISSUE_MS);
}

/** Returns the names of the certificates that certbot renews. */
export function listRenewals(machine: Machine): string[] {
  return listNames(machine, RENEWALS)
    .filter((name) => name.endsWith('.conf'))
    .map((name) => name.slice(0, -'.conf'.length));
}

/** Returns the directory of the ACME account that renews a certificate; null where its configuration names none. */
export function findAccount(machine: Machine, lineage: string): string | null {
  const id = readAccount(machine, lineage);
  const accounts = listAccounts(machine, listBelow(machine, ACCOUNTS));
  return accounts.find((path) => basename(path) === id) ?? null;
}

/** Whether certbot's directory contains files that neither certbot's package nor an installation wrote. */
export function holdsForeignFiles(machine: Machine): boolean {
  const known = new Set([`${LETSENCRYPT}/cli.ini`, paths.renewalHook]);
  return listBelow(machine, LETSENCRYPT).some((path) => {
    const isFile = lstatOrNull(locate(machine, path))?.isDirectory() === false;
    return isFile && !known.has(path) && !isDebris(path);
  });
}

/** Removes a directory and those below it where they are empty. */
export function removeEmptyDirectories(machine: Machine, path: string): void {
  for (const each of [path, ...listBelow(machine, path)].sort(deepestFirst)) {
    removeIfEmpty(machine, each);
  }
}

function isDebris(path: string): boolean {
  return DEBRIS.some((each) => path === each || path.startsWith(`${each}/`));
}

/** Returns the account directories among some paths. */
function listAccounts(machine: Machine, among: readonly string[]): string[] {
  const files = among.filter((path) => path.startsWith(`${ACCOUNTS}/`) && path.endsWith('.json'));
  return [...new Set(files.map((path) => dirname(path)))].filter((path) => exists(machine, path));
}

/** Whether an account renews a certificate. certbot uses the only account where a configuration names none. */
function isUsed(machine: Machine, account: string): boolean {
  const used = listRenewals(machine).map((name) => readAccount(machine, name));
  return used.some((id) => id === null || id === basename(account));
}

function readAccount(machine: Machine, lineage: string): string | null {
  const place = locate(machine, `${RENEWALS}/${lineage}.conf`);
  const text = existsSync(place) ? readFileSync(place, 'utf8') : '';
  return /^account\s*=\s*(\S+)/mu.exec(text)?.[1] ?? null;
}

function isChangedWithin(machine: Machine, path: string, from: Date, lastsMs: number): boolean {
  const passedMs = statSync(locate(machine, path)).mtimeMs - from.getTime();
  return passedMs >= -CLOCK_LAG_MS && passedMs <= lastsMs;
}

function deepestFirst(one: string, other: string): number {
  return other.split('/').length - one.split('/').length;
}

function removeAll(machine: Machine, path: string): void {
  rmSync(locate(machine, path), { recursive: true, force: true });
}

function removeIfEmpty(machine: Machine, path: string): void {
  const place = locate(machine, path);
  if (lstatOrNull(place)?.isDirectory() === true && readdirSync(place).length === 0)
    rmdirSync(place);
}

function exists(machine: Machine, path: string): boolean {
  return lstatOrNull(locate(machine, path)) !== null;
}

function listNames(machine: Machine, path: string): string[] {
  return exists(machine, path) ? readdirSync(locate(machine, path)).sort() : [];
}

/** Returns a path and all below it; nothing when it does not exist. */
function listBelow(machine: Machine, path: string): string[] {
  const stats = lstatOrNull(locate(machine, path));
  if (stats === null) return [];
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(locate(machine, path), { recursive: true, encoding: 'utf8' });
  return [path, ...names.sort().map((name) => join(path, name))];
}
