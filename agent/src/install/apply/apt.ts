// apt and dpkg: the packages that are installed, and the transactions that installed them.
import { existsSync, readFileSync } from 'node:fs';

import type { ProgramResult } from '../../system/run-program.ts';
import { lastLines, locate, type Machine, mustRun, ProgramError } from './machine.ts';
import { type StepContext, waitUntil } from './step-kind.ts';

/** Waits for another apt, often the daily one, to release its lock. */
const WAIT_FOR_LOCK = '-oDPkg::Lock::Timeout=120';

const OPTIONS = [
  '--yes',
  '--quiet',
  WAIT_FOR_LOCK,
  '-oDpkg::Options::=--force-confdef',
  '-oDpkg::Options::=--force-confold',
];

const TIMEOUT_MS = 600_000;

/** How long to wait for a marked apt that outlived its installer. */
const WAIT_FOR_MARKED = { timeoutMs: 300_000, pauseMs: 500 };

/** An option that apt ignores, so that its history log marks the transaction as ours. */
const MARK_OPTION = '-oLatchkey-Agent::Run=';

/** dpkg's states of a package without installed files (dpkg(1)). */
const ABSENT: ReadonlySet<string> = new Set(['config-files', 'not-installed']);

/** Returns the state of each package that dpkg knows: `installed`, `config-files`, `unpacked` … */
export async function listPackageStates(machine: Machine): Promise<ReadonlyMap<string, string>> {
  const command = ['dpkg-query', '--show', '--showformat=${Package}\t${db:Status-Status}\n'];
  const { stdout } = await mustRun(machine, 'dpkg-query could not list packages:', command);
  const lines = stdout.split('\n').map((line) => line.split('\t'));
  return new Map(lines.flatMap(([name, state]) => (name && state ? [[name, state]] : [])));
}

/** Whether a package has installed files, even after an interrupted installation. */
export function isPresent(states: ReadonlyMap<string, string>, name: string): boolean {
  return !ABSENT.has(states.get(name) ?? 'not-installed');
}

/** Waits at most two minutes for the lock of another apt or dpkg. */
export async function waitForAptLock(machine: Machine): Promise<void> {
  // It also fails for broken dependencies, which the next command reports.
  await runApt(['check', ...OPTIONS], machine);
}

/**
 * Returns the packages that an installation would add, with dependencies, and downloads them. Updates the package lists when
 * they are missing or outdated.
 * @throws ProgramError with the end of apt's output
 */
export async function prepareInstall(
  names: readonly string[],
  machine: Machine,
): Promise<readonly string[]> {
  const first = await download(names, machine);
  if (typeof first !== 'string') return first;
  const updated = await runApt(['update', '--quiet', WAIT_FOR_LOCK], machine);
  const second = await download(names, machine);
  if (typeof second !== 'string') return second;
  const failure = `${names.join(', ')} could not be installed`;
  if (updated.code === 0) throw new Error([`${failure}:`, second].join('\n  '));
  throw new ProgramError(`${failure}, and the lists of packages could not be updated:`, updated);
}

/** @returns the new packages; or the end of apt's output when it failed */
async function download(
  names: readonly string[],
  machine: Machine,
): Promise<readonly string[] | string> {
  const args = listInstallArguments(names);
  const simulated = await runApt(['--simulate', ...args], machine);
  if (simulated.code !== 0) return lastLines(simulated).join('\n  ');
  const downloaded = await runApt(['--download-only', ...args], machine);
  if (downloaded.code !== 0) return lastLines(downloaded).join('\n  ');
  // An upgrade has the installed version in brackets: `Inst name [1.0] (2.0 …)`.
  return listNames(simulated.stdout, /^Inst ([^\s:]+)(?::\S*)? \(/gmu);
}

function listInstallArguments(names: readonly string[]): string[] {
  return ['install', ...OPTIONS, '--no-install-recommends', ...names];
}

async function runApt(args: readonly string[], machine: Machine): Promise<ProgramResult> {
  return machine.runProgram('apt-get', args, { timeoutMs: TIMEOUT_MS });
}

/** Installs packages in one marked transaction. @throws ProgramError with the end of apt's output */
export async function installMarked(
  names: readonly string[],
  mark: string,
  machine: Machine,
): Promise<void> {
  // The first argument, because the history log truncates long command lines.
  const command = ['apt-get', `${MARK_OPTION}${mark}`, ...listInstallArguments(names)];
  const failure = `${names.join(', ')} could not be installed:`;
  await mustRun(machine, failure, command, { timeoutMs: TIMEOUT_MS });
}

/** Waits until no marked apt runs: one whose installer was killed continues. */
export async function waitForMarked(mark: string, context: StepContext): Promise<void> {
  const hasEnded = async () => {
    const { code } = await context.runProgram('pgrep', ['-f', `${MARK_OPTION.slice(1)}${mark}`]);
    return code !== 0;
  };
  await waitUntil(context, hasEnded, WAIT_FOR_MARKED);
}

/** Completes interrupted installations, which dpkg requires before it removes packages. */
export async function configurePending(machine: Machine): Promise<void> {
  await machine.runProgram('dpkg', ['--configure', '-a'], { timeoutMs: TIMEOUT_MS });
}

/** Returns the packages that a removal would remove, including these. */
export async function simulatePurge(
  names: readonly string[],
  machine: Machine,
): Promise<readonly string[]> {
  const command = ['apt-get', '--simulate', 'purge', ...OPTIONS, ...names];
  const { stdout } = await mustRun(machine, 'apt-get could not simulate a removal:', command);
  return listNames(stdout, /^(?:Purg|Remv) ([^\s:]+)/gmu);
}

/**
 * Removes packages.
 * @param verb `purge` also removes their configuration files
 * @throws ProgramError with the end of apt's output
 */
export async function removePackages(
  verb: 'purge' | 'remove',
  names: readonly string[],
  machine: Machine,
): Promise<void> {
  if (names.length === 0) return;
  const failure = `Packages could not be removed (${names.join(' ')}):`;
  const command = ['apt-get', verb, ...OPTIONS, ...names];
  await mustRun(machine, failure, command, { timeoutMs: TIMEOUT_MS });
}

/** Returns the packages that were installed by name, not as dependencies. */
export async function listManual(machine: Machine): Promise<ReadonlySet<string>> {
  const { stdout } = await machine.runProgram('apt-mark', ['showmanual']);
  return new Set(stdout.split('\n').map((line) => line.split(':', 1).join('')));
}

/** The default of `Dir::Log::History` (apt.conf(5)). */
const DEFAULT_HISTORY = '/var/log/apt/history.log';

/** A transaction in apt's history log. */
export interface AptTransaction {
  readonly commandLine: string;
  /** The packages that it installed newly, without their architecture. */
  readonly installed: readonly string[];
}

/** Reads apt's history log, oldest first. apt logs a transaction before it starts dpkg, so killed ones are listed, too. */
export async function readAptHistory(machine: Machine): Promise<AptTransaction[]> {
  const args = ['shell', 'H', 'Dir::Log::History/f'];
  const { stdout } = await machine.runProgram('apt-config', args);
  const [, path = DEFAULT_HISTORY] = /^H='([^']+)'$/mu.exec(stdout) ?? [];
  const located = locate(machine, path);
  return existsSync(located) ? parseAptHistory(readFileSync(located, 'utf8')) : [];
}

/** Parses paragraphs of `Name: value` lines. `Install` lists `certbot:amd64 (2.1.0-4), python3-acme:amd64 (2.1.0-1, automatic)`. */
export function parseAptHistory(text: string): AptTransaction[] {
  return text.split(/\n{2,}/u).flatMap((paragraph) => {
    const commandLine = /^Commandline: (.+)$/mu.exec(paragraph)?.[1];
    if (commandLine === undefined) return [];
    const list = /^Install: (.*)$/mu.exec(paragraph)?.[1] ?? '';
    const installed = listNames(list, /(?<![^\s,():])([^\s,():]+)(?::[^\s,():]+)? \([^()]*\)/gu);
    return [{ commandLine, installed }];
  });
}

/** Returns the first group of each match. */
function listNames(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, name = '']) => name);
}

/**
 * Returns the packages that marked transactions installed, without those that a later transaction installed again.
 * @param mark an argument that no other command line contains
 */
export function listInstalledBy(history: readonly AptTransaction[], mark: string): string[] {
  const own = new Set<string>();
  for (const { commandLine, installed } of history) {
    const isOwn = commandLine.includes(mark);
    for (const name of installed) {
      if (isOwn) own.add(name);
      else own.delete(name);
    }
  }
  return [...own];
}

/** Returns the packages that other programs installed after the last marked transaction; all of the log without one. */
export function listInstalledAfter(history: readonly AptTransaction[], mark: string): string[] {
  const last = history.findLastIndex(({ commandLine }) => commandLine.includes(mark));
  return history.slice(last + 1).flatMap(({ installed }) => installed);
}
