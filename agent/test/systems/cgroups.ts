/** Control groups for a sandbox: systemd-nspawn creates those of its machine below its own, where two machines would conflict. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^latchkey-(?<pid>\d+)-\d+$/;

let count = 0;

/** Creates a group in each hierarchy that systemd uses. */
export function createGroups(): string[] {
  const parents = listOwnGroups();
  for (const parent of parents) removeStale(parent);
  count += 1;
  const groups = parents.map((parent) => join(parent, `latchkey-${process.pid}-${count}`));
  for (const group of groups) mkdirSync(group);
  return groups;
}

/** Whether a process runs in a group or below it. */
export function hasProcesses(group: string): boolean {
  if (readFileSync(join(group, 'cgroup.procs'), 'utf8') !== '') return true;
  return listBelow(group).some(hasProcesses);
}

/** Removes a group without processes, and those below it. */
export function removeGroup(group: string): void {
  for (const each of listBelow(group)) removeGroup(each);
  rmdirSync(group);
}

function listBelow(group: string): string[] {
  const entries = readdirSync(group, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(group, name));
}

/** Removes what a killed process left. A group with a process is still needed, or not yet empty. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.groups?.['pid'];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const group = join(parent, name);
    if (!hasProcesses(group)) removeGroup(group);
  }
}

/** Returns the groups of this process in the hierarchies that systemd uses: cgroup 2, and systemd's own of cgroup 1. */
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
