// Packages of the distribution.
import type { PackagesStep } from '../../steps.ts';
import {
  configurePending,
  installMarked,
  isPresent,
  listInstalledAfter,
  listInstalledBy,
  listManual,
  listPackageStates,
  prepareInstall,
  readAptHistory,
  removePackages,
  simulatePurge,
  waitForAptLock,
  waitForMarked,
} from '../apt.ts';
import {
  CERTBOT_DIRECTORIES,
  hasForeignFiles,
  listRenewals,
  removeEmptyDirectories,
} from '../certbot.ts';
import { locate } from '../machine.ts';
import { lstatOrNull } from '../path-state.ts';
import type { CapturedState, Entry } from '../journal-entry.ts';
import type { StepContext, StepKind } from '../step-kind.ts';

const CERTBOT = 'certbot';

/**
 * The undo removes a package only when it was absent before, announced by apt, and installed by our marked transaction: other
 * programs install packages at the same time, and administrators after a crash.
 */
export const packages: StepKind<PackagesStep> = {
  outlivesPlans: true,
  describe: ({ names }) => `Install ${names.join(', ')}`,
  findSubject: ({ names }) => ({ names: names.join(' ') }),

  async isSatisfied({ names }, context) {
    const states = await listPackageStates(context);
    return names.every((name) => states.get(name) === 'installed');
  },

  async capture({ names = '' }, context) {
    await waitForAptLock(context);
    const announced = await prepareInstall(names.split(' '), context);
    const states = await listPackageStates(context);
    const planned = announced.filter((name) => !isPresent(states, name));
    const configured = planned.filter((name) => states.get(name) === 'config-files');
    const existing = CERTBOT_DIRECTORIES.filter(
      (path) => lstatOrNull(locate(context, path)) !== null,
    );
    const mark = [`${context.services.now().getTime()}`];
    return { paths: [], facts: { planned, configured, existing, mark } };
  },

  async apply({ names }, context, before) {
    const mark = readMark(before);
    await installMarked(names, mark, context);
    const own = listInstalledBy(await readAptHistory(context), mark);
    return { added: listPlanned(before).filter((name) => own.includes(name)), mark: [mark] };
  },

  async undo(entry, context) {
    const installed = await (entry.after === null ? listInterrupted : listAdded)(entry, context);
    const added = await listLeft(installed, entry, context);
    const others = listRenewals(context);
    if (added.includes(CERTBOT) && others.length > 0) {
      context.report(
        `certbot and its dependencies are kept, because it renews ${others.join(', ')}.`,
      );
      return;
    }
    if (added.length > 0) await remove(added, entry, context);
    await removeTraces(entry, context);
  },

  describeUndo({ before, after }) {
    if (after !== null) return `Remove the packages ${(after['added'] ?? []).join(', ')}`;
    const planned = listPlanned(before).join(', ');
    return `Remove what the interrupted run installed of the packages ${planned}`;
  },
};

function readMark({ facts }: CapturedState): string {
  const [mark] = facts['mark'] ?? [];
  if (mark === undefined) throw new Error('The journal has no mark for the packages of a run.');
  return mark;
}

function listPlanned({ facts }: CapturedState): readonly string[] {
  return facts['planned'] ?? [];
}

/** Returns the packages that an interrupted run installed. */
async function listInterrupted({ before }: Entry, context: StepContext): Promise<string[]> {
  const mark = readMark(before);
  await waitForMarked(mark, context);
  const own = listInstalledBy(await readAptHistory(context), mark);
  if (own.length === 0) return [];
  // apt may have been killed, but not its dpkg.
  await waitForAptLock(context);
  await configurePending(context);
  return own.filter((name) => listPlanned(before).includes(name));
}

/** Returns the packages that a completed run installed, without those that were installed again since. */
async function listAdded({ after }: Entry, context: StepContext): Promise<string[]> {
  const { added = [], mark: [mark = ''] = [] } = after ?? {};
  const again = listInstalledAfter(await readAptHistory(context), mark);
  return added.filter((name) => !again.includes(name));
}

/** Returns the packages that the step added, without dependencies that an administrator has marked as manually installed. */
async function listLeft(
  installed: readonly string[],
  { subject: { names = '' }, before }: Entry,
  context: StepContext,
): Promise<readonly string[]> {
  if (installed.length === 0) return [];
  const states = await listPackageStates(context);
  const manual = await listManual(context);
  const { configured = [] } = before.facts;
  const named = names.split(' ');
  return [...new Set(installed)].filter((name) => {
    const hasFiles = states.get(name) === 'config-files' && !configured.includes(name);
    const isKept = manual.has(name) && !named.includes(name);
    return (isPresent(states, name) || hasFiles) && !isKept;
  });
}

async function remove(added: readonly string[], entry: Entry, context: StepContext): Promise<void> {
  // The holder of the lock may be installing a package that needs one of them.
  await waitForAptLock(context);
  const unneeded = await findUnneeded(added, context);
  const needed = added.filter((name) => !unneeded.includes(name));
  if (needed.length > 0) {
    context.report(`Kept packages on which others depend: ${needed.join(', ')}.`);
  }
  const kept = unneeded.filter((name) => keepsConfiguration(name, entry, context));
  const purged = unneeded.filter((name) => !kept.includes(name));
  await removePackages('remove', kept, context);
  await removePackages('purge', purged, context);
}

/**
 * Whether to keep the configuration of a package: purging Debian's certbot without a certificate removes all of /etc/letsencrypt.
 */
function keepsConfiguration(name: string, { before }: Entry, context: StepContext): boolean {
  const { configured = [], existing = [] } = before.facts;
  if (configured.includes(name)) return true;
  if (name !== CERTBOT) return false;
  return existing.some((path) => path !== '/var/log/letsencrypt') || hasForeignFiles(context);
}

/** Returns the packages that no other package needs. */
async function findUnneeded(
  added: readonly string[],
  context: StepContext,
): Promise<readonly string[]> {
  const isOurs = (names: readonly string[]) => names.every((name) => added.includes(name));
  if (isOurs(await simulatePurge(added, context))) return added;
  const unneeded = [];
  for (const name of added) {
    if (isOurs(await simulatePurge([name], context))) unneeded.push(name);
  }
  return unneeded;
}

/** Removes the empty directories that certbot's package leaves. */
async function removeTraces({ before }: Entry, context: StepContext): Promise<void> {
  if (!listPlanned(before).includes(CERTBOT)) return;
  if (isPresent(await listPackageStates(context), CERTBOT)) return;
  const existing = before.facts['existing'] ?? [];
  for (const path of CERTBOT_DIRECTORIES.filter((each) => !existing.includes(each))) {
    removeEmptyDirectories(context, path);
  }
}
