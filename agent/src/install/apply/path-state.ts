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

import { locate, type Machine } from './machine.ts';
import type { Entry, Facts } from './step-kind.ts';
import {
  syncPath,
  temporaryPath,
  writeDirectory,
  writeFile,
  writeLink,
} from '../../system/write-file.ts';

/** The state of a path, from which it can be restored. */
export type PathState =
  /** With the missing directories above it, deepest first. */
  | { readonly type: 'absent'; readonly path: string; readonly missing: readonly string[] }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
  | ({ readonly type: 'directory'; readonly path: string } & Access)
  | ({ readonly type: 'file'; readonly path: string } & Access & Content);

interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

interface Content {
  readonly sha256: string;
  readonly modifiedMs: number;
  /** The name of its copy among the backups. */
  readonly backup: string;
}

const PERMISSIONS = 0o7777;

/** Returns the status of a path, without following a link; null when it does not exist. */
export function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Captures the state of a path; the bytes of a file go to the backups. */
export function capturePath(machine: Machine, backups: Backups, path: string): PathState {
  const place = locate(machine, path);
  const stats = lstatOrNull(place);
  if (stats === null) return { type: 'absent', path, missing: listMissing(machine, path) };
  if (stats.isSymbolicLink()) return { type: 'link', path, target: readlinkSync(place) };
  const access = { mode: stats.mode & PERMISSIONS, uid: stats.uid, gid: stats.gid };
  if (stats.isDirectory()) return { type: 'directory', path, ...access };
  const bytes = readFileSync(place);
  const content = { sha256: digest(bytes), modifiedMs: stats.mtimeMs, backup: backups.keep(bytes) };
  return { type: 'file', path, ...access, ...content };
}

/** Captures a path and everything below it. */
export function captureTree(machine: Machine, backups: Backups, path: string): PathState[] {
  const state = capturePath(machine, backups, path);
  if (state.type !== 'directory') return [state];
  const names = readdirSync(locate(machine, path)).sort();
  return [state, ...names.flatMap((name) => captureTree(machine, backups, join(path, name)))];
}

/** Restores a path; a directory that was absent is removed only when it is empty. */
export function restore(machine: Machine, backups: Backups, state: PathState): void {
  const place = locate(machine, state.path);
  rmSync(temporaryPath(place), { force: true });
  if (state.type !== 'absent') mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
  if (state.type === 'absent') removePath(machine, state);
  else if (state.type === 'link') writeLink(place, state.target);
  else if (state.type === 'directory') writeDirectory(place, state);
  else {
    writeFile(place, backups.read(state.backup), state);
    utimesSync(place, state.modifiedMs / 1000, state.modifiedMs / 1000);
  }
}

function removePath(machine: Machine, { path, missing }: PathState & { type: 'absent' }): void {
  const place = locate(machine, path);
  if (lstatOrNull(place)?.isDirectory() === true) removeIfEmpty(place);
  else rmSync(place, { force: true });
  for (const directory of missing) removeIfEmpty(locate(machine, directory));
  // Otherwise a power failure may restore the name after the journal has dropped it.
  const parents = [path, ...missing].map((each) => locate(machine, dirname(each)));
  const left = parents.find((each) => existsSync(each));
  if (left !== undefined) syncPath(left);
}

function removeIfEmpty(path: string): void {
  if (existsSync(path) && readdirSync(path).length === 0) rmdirSync(path);
}

function listMissing(machine: Machine, path: string): string[] {
  const parent = dirname(path);
  if (parent === path || existsSync(locate(machine, parent))) return [];
  return [parent, ...listMissing(machine, parent)];
}

/** Returns a digest of a path for later comparison; null when it does not exist. */
export function identify(machine: Machine, path: string): string | null {
  const place = locate(machine, path);
  const stats = lstatOrNull(place);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(place)}`;
  return stats.isDirectory() ? 'directory' : hashFile(machine, path);
}

/** Returns the digests of what a step left at its paths. */
export function identifyAll(machine: Machine, places: readonly string[]): Facts {
  return Object.fromEntries(places.map((path) => [path, [identify(machine, path) ?? 'nothing']]));
}

/** Whether others changed a path since: it is neither what the step left nor what was there before. */
export function isForeign({ after }: Entry, machine: Machine, state: PathState): boolean {
  const left = after?.[state.path]?.[0];
  if (left === undefined) return false;
  const now = identify(machine, state.path);
  if (now === null || now === left) return false;
  return state.type !== 'file' || now !== state.sha256;
}

/** Returns the SHA-256 of a file in hexadecimal; null when it does not exist. */
function hashFile(machine: Machine, path: string): string | null {
  const place = locate(machine, path);
  return lstatOrNull(place)?.isFile() === true ? digest(readFileSync(place)) : null;
}

function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Copies of files from before they were changed, named by the SHA-256 of their bytes. */
export interface Backups {
  /**
   * @returns the name of the copy, after it is synced to disk
   */
  keep(bytes: Uint8Array): string;
  /**
   * @throws Error when the copy is damaged
   */
  read(name: string): Uint8Array;
  /** Removes the copies that are not needed. */
  prune(needed: ReadonlySet<string>): void;
}

export function openBackups(directory: string, ownerId: number): Backups {
  const owner = { mode: 0o600, uid: ownerId, gid: ownerId };
  return {
    keep(bytes) {
      const name = hash(bytes);
      const path = join(directory, name);
      if (existsSync(path)) return name;
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFile(path, bytes, owner);
      return name;
    },
    read(name) {
      const bytes = readFileSync(join(directory, name));
      if (hash(bytes) !== name) throw new Error(`The copy ${join(directory, name)} is damaged.`);
      return bytes;
    },
    prune(needed) {
      if (!existsSync(directory)) return;
      for (const name of readdirSync(directory)) {
        if (!needed.has(name)) rmSync(join(directory, name));
      }
    },
  };
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
