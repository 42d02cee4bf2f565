// Applies the steps of a plan, undoes them, and journals both.
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { listStale, mergeEntries } from './entries.ts';
import type { Change, Journal } from './journal.ts';
import { bindStep, type BoundStep, kindOf } from './kinds.ts';
import { removeOldProgram } from './kinds/program.ts';
import { explainFailure } from '../../errors.ts';
import { type Entry, type JournalFacts, nameEntry } from './journal-entry.ts';
import type { StepContext } from './step-kind.ts';
import { describeUndo, undoEntries, UndoError } from './undo.ts';

export interface ApplyRequest {
  readonly steps: readonly Step[];
  /** The register that is written once the installation is finished. */
  readonly installed: string;
  /** Verifies the finished installation. @throws Error with the first problem */
  readonly verify: () => Promise<void>;
}

/** Receives the progress of a run. */
export interface Progress {
  readonly begin: (title: string) => void;
  /** @param isDone false when the step was already satisfied */
  readonly end: (title: string, isDone: boolean, seconds: number) => void;
  /** @param isUndone whether there are changes, which are undone now */
  readonly failed: (reason: string, isUndone: boolean) => void;
}

export interface RunContext extends StepContext {
  readonly journal: Journal;
  readonly progress: Progress;
  /** @throws Interrupted after a stop signal */
  readonly checkInterruption: () => void;
}

/**
 * Applies a plan to the machine, or leaves the machine as it was.
 * @returns whether anything was changed
 * @throws Error the cause, after all changes of this run were undone; UndoError when that failed, too
 */
export async function applyPlan(request: ApplyRequest, context: RunContext): Promise<boolean> {
  const { journal, checkInterruption } = context;
  const steps = request.steps.map(bindStep);
  try {
    for (const step of steps) await applyStep(step, context);
    await removeStale(steps, context);
    checkInterruption();
    await showProgress('Verify the installation', context, async () => {
      await request.verify();
      return DONE;
    });
  } catch (error) {
    const cause = findCause(error, context);
    await undoFailed(cause, context);
    throw cause;
  }
  const { done, unfinished: changes } = journal;
  const entries = changes === null ? done : mergeEntries(done, changes, steps.map(nameEntry));
  journal.finish(entries, request.installed);
  removeOldProgram(context, paths.program);
  return changes !== null;
}

/** Returns the interruption instead of the failure of a program that Ctrl-C ended. */
function findCause(error: unknown, { checkInterruption }: RunContext): unknown {
  try {
    checkInterruption();
    return error;
  } catch (interruption) {
    return interruption;
  }
}

/**
 * Undoes the changes of a run that was killed.
 * @returns whether there was one
 * @throws UndoError when that fails
 */
export async function undoUnfinished(context: RunContext): Promise<boolean> {
  const { journal, progress } = context;
  const changes = journal.unfinished;
  if (changes === null) {
    journal.tidy();
    // A run that was killed at its end left the old program; the next run must not restore it.
    removeOldProgram(context, paths.program);
    return false;
  }
  progress.failed('An earlier run was interrupted.', true);
  await undoChanges(changes, context);
  return true;
}

async function undoFailed(cause: unknown, context: RunContext): Promise<void> {
  const { journal, progress } = context;
  const changes = journal.unfinished;
  progress.failed(explainFailure(cause), changes !== null);
  if (changes === null) journal.tidy();
  else await undoChanges(changes, context, { cause });
}

/** @throws UndoError when that fails */
async function undoChanges(
  changes: readonly Change[],
  context: RunContext,
  options?: ErrorOptions,
): Promise<void> {
  const entries = changes.map(({ entry }) => entry);
  const problems = await undoEntries(entries, context);
  if (problems.length > 0) throw new UndoError(problems, options);
  context.journal.abandon();
}

async function applyStep(step: BoundStep, context: RunContext): Promise<void> {
  context.checkInterruption();
  await showProgress(step.title, context, async () => {
    if (await step.isSatisfied(context)) return { isDone: false };
    const before = await kindOf(step).capture(step.subject, context);
    const entry = { kind: step.kind, subject: step.subject, before, after: null };
    await change({ action: 'apply', entry }, context, () => step.apply(context, before));
    return DONE;
  });
}

/** Undoes the steps of an earlier installation that this plan no longer contains. */
async function removeStale(steps: readonly BoundStep[], context: RunContext): Promise<void> {
  const stale = listStale(context.journal, steps.map(nameEntry), context);
  for (const entry of stale.toReversed()) {
    await showProgress(`No longer needed: ${describeUndo(entry).join('; ')}`, context, async () => {
      const remarks = await removeEntry(entry, context);
      // A path that was kept must not be reported as restored.
      return remarks.length === 0
        ? DONE
        : { ...DONE, title: `No longer needed: ${remarks.join(' ')}` };
    });
  }
  for (const entry of stale) await kindOf(entry).afterUndo?.(entry, context);
  if (stale.length > 0) await notifyReaders(steps, context);
}

/** Applies steps again whose programs read files that were undone. */
async function notifyReaders(steps: readonly BoundStep[], context: RunContext): Promise<void> {
  for (const step of steps) {
    if (kindOf(step).afterUndo === undefined) continue;
    if (!(await step.isSatisfied(context))) await applyStep(step, context);
  }
}

/** @returns sentences about what was not restored */
async function removeEntry(entry: Entry, around: RunContext): Promise<readonly string[]> {
  const kind = kindOf(entry);
  const before = await kind.capture(entry.subject, around);
  const remarks: string[] = [];
  const context = { ...around, report: (sentence: string) => void remarks.push(sentence) };
  await change(
    { action: 'remove', entry: { ...entry, before, after: null } },
    context,
    async () => {
      await kind.undo(entry, context);
      return {};
    },
  );
  return remarks;
}

/** Changes the machine between two records in the journal. A run without changes writes no journal. */
async function change(
  planned: Change,
  { journal }: RunContext,
  work: () => Promise<JournalFacts>,
): Promise<void> {
  if (journal.unfinished === null) journal.begin();
  journal.recordBefore(planned);
  journal.recordAfter(await work());
}

const DONE = { isDone: true };

/** Reports the progress of a step. `work` may return a more precise title. */
async function showProgress(
  title: string,
  { progress }: RunContext,
  work: () => Promise<{ readonly isDone: boolean; readonly title?: string }>,
): Promise<void> {
  progress.begin(title);
  const startedMs = performance.now();
  const outcome = await work();
  const seconds = (performance.now() - startedMs) / 1000;
  progress.end(outcome.title ?? title, outcome.isDone, seconds);
}
