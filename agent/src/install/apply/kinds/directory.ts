import { existsSync, readdirSync, rmSync } from 'node:fs';

import { agentUser } from '../../paths.ts';
import type { DirectoryStep } from '../../steps.ts';
import { locate } from '../machine.ts';
import { capture, look, restore } from '../path-state.ts';
import type { StepContext, StepKind } from '../step-kind.ts';
import { writeDirectory } from '../../../system/write-file.ts';
import { hasOwner, makeParent, ownerOf } from './file.ts';
import { identifyAll } from './restore-paths.ts';

/** Is there where SELinux is on. */
const SELINUX = '/sys/fs/selinux/enforce';

export const directory: StepKind<DirectoryStep> = {
  outlivesPlans: false,
  describe: ({ path }) => `Make ${path}`,
  findSubject: ({ path }) => ({ path }),

  async holds(step, context) {
    const place = locate(context, step.path);
    return look(place)?.isDirectory() === true && hasOwner(place, step, context);
  },

  async remember({ path = '' }, context) {
    return { paths: [capture(context, context.backups, path)], facts: {} };
  },

  async apply(step, context) {
    makeParent(context, step.path);
    writeDirectory(locate(context, step.path), ownerOf(step, context));
    // The label that SELinux has for it is not the one that it inherits.
    if (existsSync(locate(context, SELINUX))) {
      await context.runProgram('restorecon', ['-R', step.path]);
    }
    return identifyAll(context, [step.path]);
  },

  async undo({ before }, context) {
    for (const state of before.paths) {
      if (state.type === 'absent') empty(state.path, context);
      restore(context, context.backups, state);
    }
  },
};

/** What lies in a directory that bears the agent's name is the agent's; other directories go only when nothing is in them. */
function empty(path: string, context: StepContext): void {
  const place = locate(context, path);
  if (look(place)?.isDirectory() !== true) return;
  if (path.includes(agentUser)) rmSync(place, { recursive: true });
  else if (readdirSync(place).length > 0) {
    context.tell(`${path} stays, for it is not empty.`);
  }
}
