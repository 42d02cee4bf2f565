/**
 * Control groups of their own for what a place runs: systemd-nspawn makes those of its machine below the ones that it was
 * started in, and two machines in the same would be in each other's way.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^latchkey-(?<pid>\d+)-\d+$/;

let count = 0;

/** Makes a group in each hierarchy that systemd uses. */
export function makeGroups(): string[] {
  const parents = listOwnGroups();
  for (const parent of parents) removeStale(parent);
  count += 1;
  const groups = parents.map((parent) => join(parent, `latchkey-${process.pid}-${count}`));
  for (const group of groups) mkdirSync(group);
  return groups;
}

/** Whether anything still runs in a group or below it. */
export function hasProcesses(group: string): boolean {
  if (readFileSync(join(group, 'cgroup.procs'), 'utf8') !== '') return true;
  return listBelow(group).some(hasProcesses);
}

/** Removes a group that has no process any more, and those below it. */
export function removeGroup(group: string): void {
  for (const each of listBelow(group)) removeGroup(each);
  rmdirSync(group);
}

function listBelow(group: string): string[] {
  const entries = readdirSync(group, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(group, name));
}

/** What an earlier process left because it was killed. A group in which something runs is still needed, or not yet empty. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.groups?.['pid'];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const group = join(parent, name);
    if (!hasProcesses(group)) removeGroup(group);
  }
}

/** The groups of this process in the hierarchies that systemd uses: cgroup 2, and its own one of cgroup 1. */
function listOwnGroups(): string[] {
  const groups = readFileSync('/proc/self/cgroup', 'utf8');
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const isSecond = line.includes(' - cgroup2 ');
      if (!isSecond && !/ - cgroup .*name=systemd/.test(line)) return [];
      const [, path] = (isSecond ? /^0::(.*)$/m : /^\d+:name=systemd:(.*)$/m).exec(groups) ?? [];
      const mount = line.split(' ')[4];
      return path === undefined || mount === undefined ? [] : [join(mount, path)];
    });
}
