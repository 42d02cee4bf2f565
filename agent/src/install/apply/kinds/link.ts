import type { LinkStep } from '../../steps.ts';
import { locate } from '../machine.ts';
import { capture } from '../path-state.ts';
import type { StepKind } from '../step-kind.ts';
import { writeLink } from '../../../system/write-file.ts';
import { makeParent } from './file.ts';
import { identify, identifyAll, restoreUnlessChanged } from './restore-paths.ts';

export const link: StepKind<LinkStep> = {
  outlivesPlans: false,
  describe: ({ path, target }) => `Link ${path} to ${target}`,
  findSubject: ({ path }) => ({ path }),

  async holds({ path, target }, context) {
    return identify(context, path) === `link to ${target}`;
  },

  async remember({ path = '' }, context) {
    return { paths: [capture(context, context.backups, path)], facts: {} };
  },

  async apply({ path, target }, context) {
    makeParent(context, path);
    writeLink(locate(context, path), target);
    context.changed.add(path);
    return identifyAll(context, [path]);
  },

  async undo(entry, context) {
    restoreUnlessChanged(entry, context);
  },
};
