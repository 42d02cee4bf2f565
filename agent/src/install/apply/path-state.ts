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

/** What was at a path: enough to bring it back. */
export type PathState =
  /** With the directories above it that were missing, too, the deepest first. */
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

/** What lies at a path, itself and not what it links to; null where nothing does. */
export function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Writes down what is at a path now; the bytes of a file go to the backups. */
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

/** As `capturePath`, with everything below a directory. */
export function captureTree(machine: Machine, backups: Backups, path: string): PathState[] {
  const state = capturePath(machine, backups, path);
  if (state.type !== 'directory') return [state];
  const names = readdirSync(locate(machine, path)).sort();
  return [state, ...names.flatMap((name) => captureTree(machine, backups, join(path, name)))];
}

/** Brings a path back to what it was; a directory that was not there goes only when it is empty. */
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
  // Else a power cut may bring it back after the journal has forgotten it.
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

/** What is at a path, in short, for a later comparison; null where nothing is. */
export function identify(machine: Machine, path: string): string | null {
  const place = locate(machine, path);
  const stats = lstatOrNull(place);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(place)}`;
  return stats.isDirectory() ? 'directory' : hashFile(machine, path);
}

/** What a step left at its paths. */
export function identifyAll(machine: Machine, places: readonly string[]): Facts {
  return Object.fromEntries(places.map((path) => [path, [identify(machine, path) ?? 'nothing']]));
}

/** Whether a path is neither what the step left nor what was there before. */
export function isForeign({ after }: Entry, machine: Machine, state: PathState): boolean {
  const left = after?.[state.path]?.[0];
  if (left === undefined) return false;
  const now = identify(machine, state.path);
  if (now === null || now === left) return false;
  return state.type !== 'file' || now !== state.sha256;
}

/** The SHA-256 of a file, in hexadecimal; null when no file is there. */
function hashFile(machine: Machine, path: string): string | null {
  const place = locate(machine, path);
  return lstatOrNull(place)?.isFile() === true ? digest(readFileSync(place)) : null;
}

function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Copies of files from before they were changed, each under the SHA-256 of its bytes. */
export interface Backups {
  /** @returns the copy's name, once it is on the disk */
  keep(bytes: Uint8Array): string;
  /** @throws Error when the copy is no longer what was kept */
  read(name: string): Uint8Array;
  /** Removes the copies that nobody needs any more. */
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
