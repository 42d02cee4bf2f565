import { readFileSync } from 'node:fs';

import type { UserStep } from '../../steps.ts';
import { locate, type Machine, mustRun } from '../machine.ts';
import type { StepKind } from '../step-kind.ts';

export const user: StepKind<UserStep> = {
  outlivesPlans: true,
  describe: ({ name }) => `Create the system user ${name}`,
  findSubject: ({ name }) => ({ name }),

  async isSatisfied({ name }, context) {
    return isListed(context, '/etc/passwd', name) && isListed(context, '/etc/group', name);
  },

  async capture({ name = '' }, context) {
    const existing = ['/etc/passwd', '/etc/group'].filter((path) => isListed(context, path, name));
    return { paths: [], facts: { existing } };
  },

  async apply({ name }, context) {
    const group = isListed(context, '/etc/group', name) ? ['--gid', name] : ['--user-group'];
    const home = ['--system', '--no-create-home', '--home-dir', '/nonexistent'];
    const shell = ['--shell', '/usr/sbin/nologin', '--comment', 'Latchkey agent'];
    const command = ['useradd', ...home, ...shell, ...group, name];
    await mustRun(context, `The user ${name} could not be created:`, command);
    return {};
  },

  async undo({ subject: { name = '' }, before }, context) {
    const existing = before.facts['existing'] ?? [];
    const isAdded = (path: string) => !existing.includes(path) && isListed(context, path, name);
    if (isAdded('/etc/passwd')) {
      await mustRun(context, `The user ${name} could not be removed:`, ['userdel', name]);
    }
    // userdel removes the group, too, unless it has other members.
    if (isAdded('/etc/group')) {
      await mustRun(context, `The group ${name} could not be removed:`, ['groupdel', name]);
    }
  },

  describeUndo: ({ subject }) => `Remove the user ${subject['name']}`,
};

/** Whether a database of users or groups contains a name. */
function isListed(machine: Machine, path: string, name: string): boolean {
  const lines = readFileSync(locate(machine, path), 'utf8').split('\n');
  return lines.some((line) => line.startsWith(`${name}:`));
}
