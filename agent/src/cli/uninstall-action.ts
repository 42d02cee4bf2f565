import { dirname } from 'node:path';

import { undoUnfinished } from '../install/apply/apply-plan.ts';
import { type Interruption, watchInterruption } from '../install/apply/interruption.ts';
import { whileAlone } from '../install/apply/lock.ts';
import { describeUndo } from '../install/apply/describe-undo.ts';
import { listUndone, uninstall } from '../install/apply/uninstall.ts';
import { paths } from '../install/paths.ts';
import { LOCK_PATH, openInstallation } from './open-installation.ts';
import { printNote } from './output.ts';

export interface UninstallFlags {
  readonly dryRun?: boolean;
  readonly keepConfiguration?: boolean;
  readonly verbose?: boolean;
}

/** @throws Error what could not be undone; the rest is */
export async function uninstallAgent(flags: UninstallFlags): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Only root can uninstall: run this with sudo.');
  using interruption = watchInterruption(() =>
    printNote('What is half undone helps nobody: this goes on to its end.'),
  );
  await whileAlone(LOCK_PATH, async () => uninstallAlone(flags, interruption));
}

async function uninstallAlone(flags: UninstallFlags, interruption: Interruption): Promise<void> {
  const { open } = openInstallation(flags.verbose === true, interruption);
  const options = { keepsConfiguration: flags.keepConfiguration === true };
  if (flags.dryRun === true) {
    const { done } = open(null, null).journal;
    print(listUndone(options, done).toReversed().flatMap(describeUndo), 'Nothing is installed.');
    return;
  }
  await undoUnfinished(open(null, null));
  const context = open(null, null);
  const isInstalled = context.journal.done.length > 0;
  await uninstall(options, context);
  print([], isInstalled ? describeEnd(options.keepsConfiguration) : 'Nothing is installed.');
}

function describeEnd(keepsConfiguration: boolean): string {
  if (!keepsConfiguration) return 'Uninstalled.';
  return `Uninstalled, but for ${dirname(paths.configuration)}: the next installation takes it up, and bin/latchkey-agent uninstall in the package removes it.`;
}

function print(lines: readonly string[], otherwise: string): void {
  process.stdout.write(`${lines.length > 0 ? lines.join('\n') : otherwise}\n`);
}
