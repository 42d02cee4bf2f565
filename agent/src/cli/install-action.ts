import { CONFIG_EXIT_CODE } from '../config/config.ts';
import { systemClock } from '../clock.ts';
import { applyPlan, type RunContext, undoUnfinished } from '../install/apply/apply-plan.ts';
import { describeUndo, UndoError } from '../install/apply/undo.ts';
import { loadConfig } from '../config/load-config.ts';
import { describeSteps } from '../install/apply/describe-steps.ts';
import { type Interruption, watchInterruption } from '../install/apply/interruption.ts';
import { detectAddresses, findAddresses } from '../install/detect/addresses.ts';
import { detectHost, findPackage } from '../install/detect/detect-host.ts';
import { detectInstalled } from '../install/detect/installed.ts';
import type { HostFacts } from '../install/facts.ts';
import { formatInstalled } from '../install/installed.ts';
import { type InstallOptions, readOptions } from '../install/options.ts';
import { paths } from '../install/paths.ts';
import type { Plan } from '../install/plan/plan.ts';
import { planInstall } from '../install/plan/plan-install.ts';
import { findAdmission, listNextSteps } from '../install/verify/next-steps.ts';
import { probeProxy } from '../install/verify/probe-proxy.ts';
import { verifyInstallation } from '../install/verify/verify-installation.ts';
import { commandProcess } from './command-process.ts';
import { type Installation, openInstallation, withInstallationLock } from './open-installation.ts';
import { printNote } from './output.ts';

export type InstallFlags = Readonly<Record<string, unknown>> & {
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
};

/** Manual steps are needed, as printed. */
const MANUAL_EXIT_CODE = 3;

/** Printed after a failed or interrupted installation, when its changes are undone. */
export const UNDONE_NOTE = 'The machine is as it was before.';

/** Installs the agent, and sets the exit code of the process. */
export async function installAgent(flags: InstallFlags): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('Only root can install: run this with sudo.');
  using interruption = watchInterruption(() =>
    printNote('Stopping: undoing the changes, which must not be interrupted.'),
  );
  await withInstallationLock(async () => installAlone(flags, interruption));
}

async function installAlone(flags: InstallFlags, interruption: Interruption): Promise<void> {
  const installation = openInstallation(flags.verbose === true, interruption);
  await clearUnfinished(installation.open(null, null), flags.dryRun === true);
  const options = readAllOptions(flags);
  if (options === null) return;
  const facts = await detect(options, installation);
  const plan = createPlan(options, facts);
  if (plan === null) return;
  const own = facts.domainAddresses.filter((each) => facts.addresses.includes(each));
  // When the domain resolves elsewhere, only this machine's own addresses can be tested.
  const seen = options.skipsDnsCheck ? { ...facts, domainAddresses: own } : facts;
  const context = installation.open(plan, seen);
  if (flags.dryRun === true) await dryRun(plan, context);
  else await execute(plan, context, interruption);
}

/** A dry run changes nothing, so it plans for the present state. */
async function clearUnfinished(context: RunContext, isDryRun: boolean): Promise<void> {
  if (!isDryRun) {
    if (await undoUnfinished(context)) printNote('The machine is as it was before that run.');
  } else if (context.journal.unfinished !== null) {
    printNote('An earlier run was interrupted; an installation would undo it first:');
    const entries = context.journal.unfinished.map(({ entry }) => entry);
    for (const line of entries.toReversed().flatMap(describeUndo)) printNote(`  ${line}`);
  }
}

/** @returns null after printing the problems of the options */
function readAllOptions(flags: InstallFlags): InstallOptions | null {
  const read = readOptions(flags, process.env, detectInstalled({ root: '' }).installed);
  if ('problems' in read) {
    printAll('✗', read.problems);
    commandProcess().exitCode = CONFIG_EXIT_CODE;
  }
  printAll('!', read.notes);
  return 'options' in read ? read.options : null;
}

async function detect(options: InstallOptions, { runProgram }: Installation): Promise<HostFacts> {
  return detectHost({ root: '', runProgram }, options, {
    now: systemClock.now(),
    isRoot: true,
    packageDirectory: findPackage(process.execPath),
    addresses: detectAddresses(),
    findAddresses,
  });
}

/** @returns null without a plan, after printing what to do */
function createPlan(options: InstallOptions, facts: HostFacts): Plan | null {
  const plan = planInstall(options, facts);
  if (plan.kind === 'plan') return plan;
  if (plan.kind === 'refusal') {
    printAll('✗', plan.reasons);
    commandProcess().exitCode = plan.lacksOption ? CONFIG_EXIT_CODE : 1;
  } else {
    printNote(`✗ ${plan.reason}`);
    commandProcess().stdout.write(`${plan.instructions.trimEnd()}\n`);
    commandProcess().exitCode = MANUAL_EXIT_CODE;
  }
  return null;
}

async function dryRun(plan: Plan, context: RunContext): Promise<void> {
  const { steps, notes, objections } = plan;
  const lines = await describeSteps(steps, context);
  commandProcess().stdout.write(`${lines.join('\n')}\n`);
  await printManualSteps(plan);
  printAll('!', notes);
  printAll('✗', objections);
}

async function execute(plan: Plan, context: RunContext, interruption: Interruption): Promise<void> {
  if (plan.objections.length > 0) {
    printAll('✗', plan.objections);
    commandProcess().exitCode = 1;
    return;
  }
  const { runProgram } = context;
  const installed = formatInstalled(plan.installed);
  const verify = async () => verifyInstallation({ installed: plan.installed, runProgram });
  try {
    await applyPlan({ steps: plan.steps, installed, verify }, context);
  } catch (error) {
    // The failure may be a consequence of Ctrl-C.
    commandProcess().exitCode = interruption.stopped()?.exitCode ?? 1;
    printNote(error instanceof UndoError ? error.message : UNDONE_NOTE);
    // A note often names the cause: a closed port, a wrong DNS record.
    printAll('!', plan.notes);
    return;
  }
  const admission = findAdmission(await loadConfig(paths.configuration));
  const lines = listNextSteps(plan.installed, plan.agentPort, admission);
  commandProcess().stdout.write(`${lines.join('\n')}\n`);
  await printManualSteps(plan);
  printAll('!', plan.notes);
}

/** Prints the remaining manual steps, last. */
async function printManualSteps({ manualSteps, installed }: Plan): Promise<void> {
  if (manualSteps === null) return;
  if (manualSteps.isRepeated && (await probeProxy(installed)).problem === null) return;
  commandProcess().stdout.write(
    `\nThe web server is yours to set up:\n\n${manualSteps.instructions}`,
  );
}

function printAll(mark: string, sentences: readonly string[]): void {
  for (const sentence of sentences) printNote(`${mark} ${sentence}`);
}
