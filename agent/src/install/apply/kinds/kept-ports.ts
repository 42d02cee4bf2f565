import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';

import { paths } from '../../paths.ts';
import { renderPortUnit } from '../../files/port-unit.ts';
import { locate, type Machine, mustRun, succeeds } from '../machine.ts';
import { writeFile } from '../../../system/write-file.ts';

/** The instances of the template that systemd starts. */
const WANTED = '/etc/systemd/system/multi-user.target.wants';

const [PREFIX = ''] = basename(paths.portUnit).split('.');

/** Whether a port is opened in nftables at each start. */
export async function isKeptOpen(port: number, machine: Machine): Promise<boolean> {
  if (!existsSync(locate(machine, paths.portUnit))) return false;
  return succeeds(machine, ['systemctl', 'is-enabled', '--quiet', nameUnit(port)]);
}

/** Has a port opened in nftables at each start, and after each load of the machine's own rules. */
export async function keepOpen(port: number, machine: Machine): Promise<void> {
  const owner = { mode: 0o644, uid: machine.ownerId, gid: machine.ownerId };
  writeFile(locate(machine, paths.portUnit), renderPortUnit(), owner);
  const failure = `Port ${port} could not be kept open:`;
  await mustRun(machine, failure, ['systemctl', 'daemon-reload']);
  await mustRun(machine, failure, ['systemctl', 'enable', '--quiet', nameUnit(port)]);
  // Started, so that a reload of the rules reaches it; the program may not be there yet, and the port is open already.
  await machine.runProgram('systemctl', ['start', '--no-block', nameUnit(port)]);
}

/** Ends that, and removes the unit with its last port. */
export async function forgetPort(port: number, machine: Machine): Promise<void> {
  const template = locate(machine, paths.portUnit);
  if (!existsSync(template)) return;
  await machine.runProgram('systemctl', ['disable', '--now', '--quiet', nameUnit(port)]);
  const wanted = locate(machine, WANTED);
  const others = existsSync(wanted) ? readdirSync(wanted) : [];
  if (others.some((name) => name.startsWith(PREFIX) && name !== nameUnit(port))) return;
  rmSync(template);
  await machine.runProgram('systemctl', ['daemon-reload']);
}

function nameUnit(port: number): string {
  return basename(paths.portUnit).replace('@', `@${port}`);
}
