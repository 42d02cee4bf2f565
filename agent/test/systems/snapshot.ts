/** Compares a machine's disk before and after. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';

import type { Machine } from './machine.ts';

/** A line for each path that was ever written; the rest is as in the tree. */
interface Snapshot {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly lower: string;
}

interface Entry {
  /** Type, mode, owner, size and content; `absent` where it was removed. */
  readonly what: string;
  readonly modifiedAtMs: number;
}

const ABSENT: Entry = { what: 'absent', modifiedAtMs: 0 };

/** Paths that a system writes by itself while it runs. */
const RESTLESS = [
  /^\/var\/log(\/|$)/,
  // systemd's random seeds, timer stamps and clock.
  /^\/var\/lib\/systemd(?!\/timers\/stamp-latchkey)(\/|$)/,
  // Private directories of services, which come and go with them.
  /^\/(var\/)?tmp(\/|$)/,
  // Byte code of certbot and Python, man pages and the like.
  /^\/var\/cache(\/|$)/,
  /\/__pycache__(\/|$)/,
  // Backups and locks of the account tools, and what they leave when they are killed.
  /^\/etc\/((passwd|group|g?shadow|subuid|subgid)(-|\.\d+|\.lock)|\.pwd\.lock)$/,
];

/** Reads the machine's layer only, which takes milliseconds. */
export function takeSnapshot(machine: Machine): Snapshot {
  const { upper, lower } = machine.layers;
  const entries = new Map<string, Entry>();
  const visit = (path: string): void => {
    const stats = lstatSync(join(upper, path));
    if (path !== '/' && !RESTLESS.some((each) => each.test(path)))
      entries.set(path, describe(join(upper, path), stats));
    if (!stats.isDirectory()) return;
    const names = readdirSync(join(upper, path));
    for (const name of names) visit(join(path, name));
    for (const name of listHidden(machine, path, new Set(names)))
      entries.set(join(path, name), ABSENT);
  };
  visit('/');
  return { entries, lower };
}

/**
 * Returns the differences, one line each, in the order of paths.
 * @param options.withTimes whether a file that was rewritten with the same content counts, too
 */
export function compareSnapshots(
  before: Snapshot,
  after: Snapshot,
  { withTimes }: { readonly withTimes: boolean },
): string[] {
  const paths = [...new Set([...before.entries.keys(), ...after.entries.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [lookUp(before, path), lookUp(after, path)];
    if (was.what !== is.what) return [`${path}: ${was.what} → ${is.what}`];
    const isDirectory = is.what.startsWith('directory');
    if (!withTimes || isDirectory || was.modifiedAtMs === is.modifiedAtMs) return [];
    return [`${path}: written anew`];
  });
}

function lookUp({ entries, lower }: Snapshot, path: string): Entry {
  const entry = entries.get(path);
  if (entry !== undefined) return entry;
  const stats = lstatSync(join(lower, path), { throwIfNoEntry: false });
  return stats === undefined ? ABSENT : describe(join(lower, path), stats);
}

function describe(path: string, stats: Stats): Entry {
  // overlayfs marks a removed path of the layer below by such a device.
  if (stats.isCharacterDevice() && stats.rdev === 0) return ABSENT;
  const mode = (stats.mode & 0o7777).toString(8);
  const what = `${describeContent(path, stats)} ${mode} ${stats.uid}:${stats.gid}`;
  return { what, modifiedAtMs: stats.mtimeMs };
}

function describeContent(path: string, stats: Stats): string {
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (stats.isDirectory()) return 'directory';
  if (!stats.isFile()) return 'special';
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
  return `file ${stats.size} ${hash}`;
}

/** Returns what a directory of the tree contains, but not the recreated one. */
function listHidden(machine: Machine, path: string, upperNames: ReadonlySet<string>): string[] {
  const lower = join(machine.layers.lower, path);
  if (lstatSync(lower, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const visible = new Set(readdirSync(machine.outside(path)));
  return readdirSync(lower).filter((name) => !visible.has(name) && !upperNames.has(name));
}
