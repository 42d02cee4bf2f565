// The state of paths: captures, restores and compares it.
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  type Stats,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import {
  syncPath,
  temporaryPath,
  writeDirectory,
  writeFile,
  writeLink,
} from '../../system/write-file.ts';
import type { CapturedState, Entry, JournalFacts, PathState } from './journal-entry.ts';
import { locate, type Machine } from './machine.ts';

/** A machine with backups of its changed files. */
export interface BackedUpMachine extends Machine {
  readonly backups: Backups;
}

const PERMISSIONS = 0o7777;

/** Returns the status of a path, without following a link; null when it does not exist. */
export function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Captures the state of a path; the bytes of a file go to the backups. */
function capturePath(machine: BackedUpMachine, path: string): PathState {
  const located = locate(machine, path);
  const stats = lstatOrNull(located);
  if (stats === null) return { type: 'absent', path, missing: listMissing(machine, path) };
  if (stats.isSymbolicLink()) return { type: 'link', path, target: readlinkSync(located) };
  const access = { mode: stats.mode & PERMISSIONS, uid: stats.uid, gid: stats.gid };
  if (stats.isDirectory()) return { type: 'directory', path, ...access };
  const backup = machine.backups.keep(readFileSync(located));
  return { type: 'file', path, ...access, modifiedMs: stats.mtimeMs, backup };
}

/** Captures paths, with facts beside them. */
export function capturePaths(
  machine: BackedUpMachine,
  paths: readonly string[],
  facts: JournalFacts = {},
): CapturedState {
  return { paths: paths.map((path) => capturePath(machine, path)), facts };
}

/** Captures a path and everything below it. */
export function captureTree(machine: BackedUpMachine, path: string): PathState[] {
  const state = capturePath(machine, path);
  if (state.type !== 'directory') return [state];
  const names = readdirSync(locate(machine, path)).sort();
  return [state, ...names.flatMap((name) => captureTree(machine, join(path, name)))];
}

/** Restores a path; a directory that was absent is removed only when it is empty. */
export function restore(machine: BackedUpMachine, state: PathState): void {
  const located = locate(machine, state.path);
  rmSync(temporaryPath(located), { force: true });
  if (state.type === 'absent') {
    removePath(machine, state);
    return;
  }
  mkdirSync(dirname(located), { recursive: true, mode: 0o755 });
  if (state.type === 'link') writeLink(located, state.target);
  else if (state.type === 'directory') writeDirectory(located, state);
  else {
    writeFile(located, machine.backups.read(state.backup), state);
    utimesSync(located, state.modifiedMs / 1000, state.modifiedMs / 1000);
  }
}

function removePath(machine: Machine, { path, missing }: PathState & { type: 'absent' }): void {
  const located = locate(machine, path);
  if (lstatOrNull(located)?.isDirectory() === true) removeIfEmpty(located);
  else rmSync(located, { force: true });
  for (const directory of missing) removeIfEmpty(locate(machine, directory));
  // Otherwise a power failure may restore the name after the journal has dropped it.
  const parents = [path, ...missing].map((each) => locate(machine, dirname(each)));
  const left = parents.find((each) => existsSync(each));
  if (left !== undefined) syncPath(left);
}

/** Removes an empty directory; keeps everything else. */
export function removeIfEmpty(located: string): void {
  const isDirectory = lstatOrNull(located)?.isDirectory() === true;
  if (isDirectory && readdirSync(located).length === 0) rmdirSync(located);
}

function listMissing(machine: Machine, path: string): string[] {
  const parent = dirname(path);
  if (parent === path || existsSync(locate(machine, parent))) return [];
  return [parent, ...listMissing(machine, parent)];
}

/** Returns a digest of a path for later comparison; null when it does not exist. */
export function digestPath(machine: Machine, path: string): string | null {
  const located = locate(machine, path);
  const stats = lstatOrNull(located);
  if (stats?.isSymbolicLink() === true) return `link to ${readlinkSync(located)}`;
  if (stats?.isDirectory() === true) return 'directory';
  return stats?.isFile() === true ? hash(readFileSync(located)) : null;
}

/** Returns the digest of a step's result at a path. */
export function identifyResult(machine: Machine, path: string): JournalFacts {
  return { [path]: [digestPath(machine, path) ?? 'nothing'] };
}

/** Whether others changed a path since: it equals neither the step's result nor the captured state. */
export function isForeign({ after }: Entry, machine: Machine, state: PathState): boolean {
  const left = after?.[state.path]?.[0];
  const now = digestPath(machine, state.path);
  if (left === undefined || now === null || now === left) return false;
  return state.type !== 'file' || now !== state.backup;
}

/** Copies of files before their change, named by the SHA-256 of their bytes. */
export class Backups {
  readonly #directory: string;
  readonly #ownerId: number;

  constructor(directory: string, ownerId: number) {
    this.#directory = directory;
    this.#ownerId = ownerId;
  }

  /** @returns the name of the copy, after it is synced to disk */
  keep(bytes: Uint8Array): string {
    const name = hash(bytes);
    const path = join(this.#directory, name);
    if (existsSync(path)) return name;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeFile(path, bytes, { mode: 0o600, uid: this.#ownerId, gid: this.#ownerId });
    return name;
  }

  /** @throws Error when the copy is damaged */
  read(name: string): Uint8Array {
    const path = join(this.#directory, name);
    const bytes = readFileSync(path);
    if (hash(bytes) !== name) throw new Error(`The copy ${path} is damaged.`);
    return bytes;
  }

  /** Removes all copies except the needed ones. */
  prune(needed: ReadonlySet<string>): void {
    if (!existsSync(this.#directory)) return;
    for (const name of readdirSync(this.#directory)) {
      if (!needed.has(name)) rmSync(join(this.#directory, name));
    }
  }
}

/** Returns the SHA-256 in hexadecimal. */
function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
