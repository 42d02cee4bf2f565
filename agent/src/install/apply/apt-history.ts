import { existsSync, readFileSync } from 'node:fs';

import { locate, type Machine } from './machine.ts';

/** Where apt logs its transactions unless it is configured otherwise (apt.conf(5), Dir::Log::History). */
const DEFAULT_PATH = '/var/log/apt/history.log';

/** One transaction of apt, as its history log has it. */
export interface AptTransaction {
  /** The program and its arguments. */
  readonly commandLine: string;
  /** The packages that were not installed before it, without their architecture. */
  readonly installed: readonly string[];
}

/**
 * Reads apt's history log, the oldest transaction first. apt writes a transaction there before it starts dpkg, so one that was
 * killed is listed, too.
 */
export async function readAptHistory(machine: Machine): Promise<AptTransaction[]> {
  const asked = await machine.runProgram('apt-config', ['shell', 'H', 'Dir::Log::History/f']);
  const [, configured = DEFAULT_PATH] = /^H='([^']+)'$/mu.exec(asked.stdout) ?? [];
  const place = locate(machine, configured);
  return existsSync(place) ? parseAptHistory(readFileSync(place, 'utf8')) : [];
}

/** Parses a history log: paragraphs of `Name: value` lines. */
export function parseAptHistory(text: string): AptTransaction[] {
  return text
    .split(/\n{2,}/u)
    .map((paragraph) => ({
      commandLine: readField(paragraph, 'Commandline'),
      installed: readNames(readField(paragraph, 'Install')),
    }))
    .filter(({ commandLine }) => commandLine !== '');
}

/**
 * The packages that transactions with a mark in their command line installed, without those that a later transaction of
 * somebody else installed once more.
 * @param mark an argument that no other command line has
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

/** The packages that others installed after the last transaction with a mark; in the whole log where none has it. */
export function listInstalledAfter(history: readonly AptTransaction[], mark: string): string[] {
  const last = history.findLastIndex(({ commandLine }) => commandLine.includes(mark));
  return history.slice(last + 1).flatMap(({ installed }) => installed);
}

function readField(paragraph: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'mu').exec(paragraph)?.[1] ?? '';
}

/** `certbot:amd64 (2.1.0-4), python3-certbot:amd64 (2.1.0-4, automatic)` */
function readNames(list: string): string[] {
  return [...list.matchAll(/([^\s,():]+)(?::[^\s,()]+)? \([^)]*\)/gu)].map(([, name = '']) => name);
}
