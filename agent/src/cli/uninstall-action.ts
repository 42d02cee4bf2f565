import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';

import { undoUnfinished } from '../install/apply/apply-plan.ts';
import { type Interruption, watchInterruption } from '../install/apply/interruption.ts';
import { describeUndo, listUndone, uninstall } from '../install/apply/undo.ts';
import { challengePaths, serverPaths } from '../install/nginx/own-files.ts';
import { agentUnit, agentUser, paths } from '../install/paths.ts';
import { commandProcess } from './command-process.ts';
import { type Installation, openInstallation, withInstallationLock } from './open-installation.ts';
import { printNote } from './output.ts';

export interface UninstallFlags {
  readonly dryRun?: boolean;
  readonly keepConfiguration?: boolean;
  readonly verbose?: boolean;
}

/** Printed at Ctrl-C. */
export const UNINTERRUPTIBLE_NOTE = 'Uninstalling cannot be interrupted; it continues to the end.';

/** @throws Error naming what could not be undone; everything else is undone */
export async function uninstallAgent(flags: UninstallFlags): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Only root can uninstall: run this with sudo.');
  using interruption = watchInterruption(() => printNote(UNINTERRUPTIBLE_NOTE));
  await withInstallationLock(async () => uninstallAlone(flags, interruption));
}

async function uninstallAlone(flags: UninstallFlags, interruption: Interruption): Promise<void> {
  const { open } = openInstallation(flags.verbose === true, interruption);
  const options = { keepsConfiguration: flags.keepConfiguration === true };
  const { done, unfinished } = open(null, null).journal;
  // Only an installation writes the unit.
  if (done.length === 0 && unfinished === null && listRemains().includes(paths.unit)) {
    printNote(explainRemains(listRemains()));
    commandProcess().exitCode = 1;
  } else if (flags.dryRun === true) {
    const undone = [...listUndone(options, done), ...(unfinished ?? []).map(({ entry }) => entry)];
    if (unfinished !== null) printNote('An earlier run was interrupted and is undone first.');
    print(undone.toReversed().flatMap(describeUndo), NOTHING);
  } else await undoAll(open, options);
}

async function undoAll(
  open: Installation['open'],
  options: { readonly keepsConfiguration: boolean },
): Promise<void> {
  const wasUnfinished = await undoUnfinished(open(null, null));
  if (wasUnfinished) printNote('The interrupted run is undone.');
  const context = open(null, null);
  const isInstalled = context.journal.done.length > 0;
  await uninstall(options, context);
  const otherwise = wasUnfinished ? 'No installation was finished.' : NOTHING;
  print([], isInstalled ? describeEnd(options.keepsConfiguration) : otherwise);
  if (options.keepsConfiguration || listRemains().length === 0) return;
  printNote(`Left: ${listRemains().join(', ')}`);
}

const NOTHING = 'Nothing is installed.';

/** Files that only an installation creates. */
const INSTALLED = [
  paths.program,
  paths.command,
  paths.unit,
  paths.revocationsUnit,
  paths.revocationsTimer,
  dirname(paths.configuration),
  paths.renewalHook,
  paths.authority,
  paths.challenges,
  ...serverPaths,
  ...challengePaths,
  paths.nginxRoute,
  paths.nginxChallenge,
];

function listRemains(): readonly string[] {
  return INSTALLED.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

function explainRemains(remains: readonly string[]): string {
  return [
    `The agent is installed, but its journal in ${paths.journal} is missing, so the previous state of the machine is unknown.`,
    'Restore the journal from a backup and run this again, or remove these manually:',
    `  systemctl disable --now ${agentUnit}`,
    ...remains.map((path) => `  ${path}`),
    `Also remove lines in other nginx files that name these files, then run: userdel ${agentUser}`,
  ].join('\n');
}

function describeEnd(keepsConfiguration: boolean): string {
  if (!keepsConfiguration) return 'Uninstalled.';
  return `Uninstalled, except ${dirname(paths.configuration)}: the next installation uses it, and bin/latchkey-agent uninstall in the package removes it.`;
}

function print(lines: readonly string[], otherwise: string): void {
  commandProcess().stdout.write(`${lines.length > 0 ? lines.join('\n') : otherwise}\n`);
}
