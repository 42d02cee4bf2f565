import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { paths } from '../../paths.ts';
import type { AuthorityStep } from '../../steps.ts';
import { locate } from '../machine.ts';
import { captureTree, restore } from '../path-state.ts';
import type { CapturedState } from '../journal-entry.ts';
import type { StepContext, StepKind } from '../step-kind.ts';

/** The directories of root's files, and of the files that the agent and nginx read. */
const DIRECTORIES = [paths.authority, dirname(paths.authorityCertificate)];

export const authority: StepKind<AuthorityStep> = {
  // Certificates of viewers stay valid when mutual TLS is turned off and on again.
  outlivesPlans: true,
  describe: () => 'Create the authority for client certificates',
  findSubject: () => ({}),

  async isSatisfied(step, { services }) {
    return services.isAuthorityReady(step);
  },

  async capture(_subject, context) {
    return { paths: DIRECTORIES.flatMap((path) => captureTree(context, path)), facts: {} };
  },

  async apply(step, context) {
    await context.services.ensureAuthority(step);
    for (const path of DIRECTORIES) context.changed.add(path);
    return {};
  },

  async undo({ before }, context) {
    const earlier = readEarlierRegister(before, context);
    const isWholly = context.isUninstallation && earlier === null;
    if (!isWholly && context.services.hasIssuedSince(earlier)) {
      context.report(
        `${paths.authority} is kept, because client certificates were issued or revoked since.`,
      );
      return;
    }
    for (const path of DIRECTORIES) {
      rmSync(locate(context, path), { recursive: true, force: true });
      context.changed.add(path);
    }
    for (const state of before.paths) restore(context, state);
  },
};

/** Returns the captured register, whose certificates must be kept; null when there was none. */
function readEarlierRegister(
  { paths: states }: CapturedState,
  { backups }: StepContext,
): string | null {
  const register = states.find(({ path }) => path === join(paths.authority, 'register.json'));
  if (register?.type !== 'file') return null;
  return Buffer.from(backups.read(register.backup)).toString('utf8');
}
