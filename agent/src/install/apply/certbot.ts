// The files of certbot: certificates, accounts, and traces.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { paths } from '../paths.ts';
import { locate, type Machine } from './machine.ts';
import { lstatOrNull, removeIfEmpty } from './path-state.ts';

const LETSENCRYPT = '/etc/letsencrypt';
const RENEWALS = `${LETSENCRYPT}/renewal`;
const STATE = '/var/lib/letsencrypt';
const LOGS = '/var/log/letsencrypt';

export const ACCOUNTS = `${LETSENCRYPT}/accounts`;

/** The directories that certbot uses. */
export const CERTBOT_DIRECTORIES = [LETSENCRYPT, STATE, LOGS] as const;

/** Files that certbot writes beside accounts and certificates, and never reads again. */
const UNUSED_CERTBOT_FILES = [
  `${LETSENCRYPT}/csr`,
  `${LETSENCRYPT}/keys`,
  `${LETSENCRYPT}/live/README`,
  ...CERTBOT_DIRECTORIES.map((path) => `${path}/.certbot.lock`),
];

/** Directories that certbot creates at its first use. */
const CREATED = [
  ...['', 'accounts', 'archive', 'csr', 'keys', 'live', 'renewal', 'renewal-hooks']
    .concat(['deploy', 'post', 'pre'].map((name) => `renewal-hooks/${name}`))
    .map((name) => join(LETSENCRYPT, name)),
  `${STATE}/backups`,
  STATE,
  LOGS,
];

/** certbot registers its account first, and gets a certificate within the second time. */
const REGISTRATION_MS = 60_000;
const ISSUE_MS = 300_000;

/** File timestamps of the kernel lag by a few milliseconds. */
const CLOCK_LAG_MS = 1_000;

/** Returns the directory of a certificate's newest files. */
export function lineagePath(name: string): string {
  return `${LETSENCRYPT}/live/${name}`;
}

export function archivePath(name: string): string {
  return `${LETSENCRYPT}/archive/${name}`;
}

/** Returns the path of the configuration by which certbot renews a certificate. */
export function renewalPath(name: string): string {
  return `${RENEWALS}/${name}.conf`;
}

/** Reads a field of a certificate's renewal configuration; null without it. */
export function readRenewalField(machine: Machine, name: string, field: string): string | null {
  const located = locate(machine, renewalPath(name));
  const text = existsSync(located) ? readFileSync(located, 'utf8') : '';
  return new RegExp(`^${field}\\s*=\\s*(\\S+)`, 'mu').exec(text)?.[1] ?? null;
}

/** Returns the names of the certificates that certbot renews. */
export function listRenewals(machine: Machine): string[] {
  const names = exists(machine, RENEWALS) ? readdirSync(locate(machine, RENEWALS)).sort() : [];
  return names.filter((name) => name.endsWith('.conf')).map((name) => basename(name, '.conf'));
}

/** Returns the paths of certbot except its certificates. */
export function listTraces(machine: Machine): string[] {
  const files = [ACCOUNTS, ...UNUSED_CERTBOT_FILES].flatMap((path) => listBelow(machine, path));
  return [...new Set([...files, ...CREATED])].filter((path) => exists(machine, path));
}

/** Identifies the traces of one run. */
export interface RunTraces {
  /** The result of `listTraces` before the run. */
  readonly earlier: readonly string[];
  /** The ACME accounts that the run registered. */
  readonly accounts: readonly string[];
  /** The start of an interrupted run, whose result is unknown; otherwise null. */
  readonly interruptedAt: Date | null;
}

/**
 * Removes the traces of a run of certbot, but not its certificate. Keeps an account that renews any certificate, and everything
 * that other programs may have added.
 */
export function removeTraces(
  machine: Machine,
  { earlier, accounts, interruptedAt }: RunTraces,
): void {
  const added = listTraces(machine).filter((path) => !earlier.includes(path));
  const isRecent = (path: string, lastsMs: number) =>
    interruptedAt !== null && isChangedWithin(machine, path, interruptedAt, lastsMs);
  for (const account of listAccounts(machine, added)) {
    const isOwn = accounts.includes(account) || isRecent(account, REGISTRATION_MS);
    if (isOwn && !isUsed(machine, account)) removeAll(machine, account);
  }
  const isUnused = listRenewals(machine).length === 0;
  for (const path of added.filter((each) => isUnusedFile(each) && isFile(machine, each))) {
    if (isUnused || isRecent(path, ISSUE_MS)) removeAll(machine, path);
  }
  if (isUnused && added.includes(LOGS) && !hasForeignFiles(machine)) removeAll(machine, LOGS);
  for (const path of added.toSorted(deepestFirst)) removeIfEmpty(locate(machine, path));
}

/** Whether an interrupted run may have issued a certificate, rather than a later one. */
export function isIssuedWithin(machine: Machine, name: string, startedAt: Date): boolean {
  const first = `${archivePath(name)}/cert1.pem`;
  return !exists(machine, first) || isChangedWithin(machine, first, startedAt, ISSUE_MS);
}

/** Returns the directory of the ACME account that renews a certificate; null where its configuration names none. */
export function findAccount(machine: Machine, name: string): string | null {
  const id = readRenewalField(machine, name, 'account');
  const accounts = listAccounts(machine, listBelow(machine, ACCOUNTS));
  return accounts.find((path) => basename(path) === id) ?? null;
}

/** Whether certbot's directory contains files that neither certbot's package nor an installation wrote. */
export function hasForeignFiles(machine: Machine): boolean {
  const known = new Set([`${LETSENCRYPT}/cli.ini`, paths.renewalHook]);
  return listBelow(machine, LETSENCRYPT).some(
    (path) => isFile(machine, path) && !known.has(path) && !isUnusedFile(path),
  );
}

/** Removes a directory and those below it where they are empty. */
export function removeEmptyDirectories(machine: Machine, path: string): void {
  for (const each of listBelow(machine, path).toSorted(deepestFirst)) {
    removeIfEmpty(locate(machine, each));
  }
}

function isUnusedFile(path: string): boolean {
  return UNUSED_CERTBOT_FILES.some((each) => path === each || path.startsWith(`${each}/`));
}

/** Returns the account directories among some paths. */
function listAccounts(machine: Machine, among: readonly string[]): string[] {
  const files = among.filter((path) => path.startsWith(`${ACCOUNTS}/`) && path.endsWith('.json'));
  return [...new Set(files.map((path) => dirname(path)))].filter((path) => exists(machine, path));
}

/** Whether an account renews a certificate. certbot uses the only account where a configuration names none. */
function isUsed(machine: Machine, account: string): boolean {
  const ids = listRenewals(machine).map((name) => readRenewalField(machine, name, 'account'));
  return ids.some((id) => id === null || id === basename(account));
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

function exists(machine: Machine, path: string): boolean {
  return lstatOrNull(locate(machine, path)) !== null;
}

function isFile(machine: Machine, path: string): boolean {
  return lstatOrNull(locate(machine, path))?.isDirectory() === false;
}

/** Returns a path and all below it; nothing when it does not exist. */
function listBelow(machine: Machine, path: string): string[] {
  if (!exists(machine, path)) return [];
  if (isFile(machine, path)) return [path];
  const names = readdirSync(locate(machine, path), { recursive: true, encoding: 'utf8' });
  return [path, ...names.sort().map((name) => join(path, name))];
}
