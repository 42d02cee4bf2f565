// Applies the steps of a plan, undoes them, and journals both.
import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { explainFailure } from './machine.ts';
import type { Journal } from './journal.ts';
import { bindStep, type BoundStep, kindOf } from './kinds.ts';
import { removeOldProgram } from './kinds/program.ts';
import { listStale, mergeEntries } from './entries.ts';
import { describeUndo, undoEntries, UndoError } from './undo.ts';
import { type Entry, nameEntry, type StepContext } from './step-kind.ts';

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
  /**
   * @param isDone false when the step was already satisfied
   */
  readonly end: (title: string, isDone: boolean, seconds: number) => void;
  /**
   * @param isUndone whether there are changes, which are undone now
   */
  readonly failed: (reason: string, isUndone: boolean) => void;
}

export interface RunContext extends StepContext {
  readonly journal: Journal;
  readonly progress: Progress;
  /**
   * @throws Interrupted after a stop signal
   */
  readonly checkInterruption: () => void;
}

/**
 * Applies a plan to the machine, or leaves the machine as it was.
 * @returns whether anything was changed
 * @throws Error the cause, after all changes of this run were undone; UndoError when that failed, too
 */
export async function applyPlan(request: ApplyRequest, context: RunContext): Promise<boolean> {
  const run = new Run(context);
  const steps = request.steps.map(bindStep);
  try {
    for (const step of steps) await run.apply(step);
    await run.removeStale(steps);
    context.checkInterruption();
    await run.verify(request.verify);
  } catch (error) {
    const cause = findCause(error, context);
    await run.undo(cause);
    throw cause;
  }
  return run.finish(steps.map(nameEntry), request.installed);
}

/** Returns the interruption in place of the failure of a program that Ctrl-C ended. */
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
    // A run that was killed at its very end left it; the next run must not restore it.
    removeOldProgram(context, paths.program);
    return false;
  }
  progress.failed('An earlier run was interrupted.', true);
  const problems = await undoEntries(
    changes.map(({ entry }) => entry),
    context,
  );
  if (problems.length > 0) throw new UndoError(problems);
  journal.abandon();
  return true;
}

/** One run, from its first change to its end. */
class Run {
  readonly #context: RunContext;

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** A run without changes writes no journal. */
  get hasBegun(): boolean {
    return this.#context.journal.unfinished !== null;
  }

  async apply(step: BoundStep): Promise<void> {
    const { progress, checkInterruption } = this.#context;
    checkInterruption();
    progress.begin(step.title);
    const startedMs = performance.now();
    const isSatisfied = await step.isSatisfied(this.#context);
    if (!isSatisfied) {
      const before = await kindOf(step).capture(step.subject, this.#context);
      const entry = { kind: step.kind, subject: step.subject, before, after: null };
      await this.#change('apply', entry, () => step.apply(this.#context, before));
    }
    progress.end(step.title, !isSatisfied, (performance.now() - startedMs) / 1000);
  }

  /** Undoes the steps of an earlier installation that this plan no longer contains. */
  async removeStale(steps: readonly BoundStep[]): Promise<void> {
    const { journal, progress } = this.#context;
    const stale = listStale(journal, steps.map(nameEntry), this.#context);
    for (const entry of stale.toReversed()) {
      const title = `No longer needed: ${describeUndo(entry).join('; ')}`;
      progress.begin(title);
      const startedMs = performance.now();
      const remarks = await this.#remove(entry);
      // What was kept must not be reported as restored.
      const outcome = remarks.length === 0 ? title : `No longer needed: ${remarks.join(' ')}`;
      progress.end(outcome, true, (performance.now() - startedMs) / 1000);
    }
    for (const entry of stale) await kindOf(entry).afterUndo?.(entry, this.#context);
    if (stale.length > 0) await this.#notifyReaders(steps);
  }

  /** Applies steps again whose programs read files that were undone. */
  async #notifyReaders(steps: readonly BoundStep[]): Promise<void> {
    for (const step of steps) {
      if (kindOf(step).afterUndo === undefined) continue;
      if (!(await step.isSatisfied(this.#context))) await this.apply(step);
    }
  }

  /**
   * @returns sentences about what was not restored
   */
  async #remove(entry: Entry): Promise<readonly string[]> {
    const kind = kindOf(entry);
    const before = await kind.capture(entry.subject, this.#context);
    const remarks: string[] = [];
    const context = { ...this.#context, report: (sentence: string) => void remarks.push(sentence) };
    await this.#change('remove', { ...entry, before, after: null }, async () => {
      await kind.undo(entry, context);
      return {};
    });
    return remarks;
  }

  async #change(
    action: 'apply' | 'remove',
    entry: Entry,
    work: () => Promise<NonNullable<Entry['after']>>,
  ): Promise<void> {
    const { journal } = this.#context;
    if (!this.hasBegun) journal.begin();
    journal.recordBefore({ action, entry });
    journal.recordAfter(await work());
  }

  async verify(check: () => Promise<void>): Promise<void> {
    const { progress } = this.#context;
    const title = 'Verify the installation';
    progress.begin(title);
    const startedMs = performance.now();
    await check();
    progress.end(title, true, (performance.now() - startedMs) / 1000);
  }

  async undo(cause: unknown): Promise<void> {
    const { journal, progress } = this.#context;
    const changes = journal.unfinished;
    progress.failed(explainFailure(cause), changes !== null);
    if (changes === null) {
      journal.tidy();
      return;
    }
    const problems = await undoEntries(
      changes.map(({ entry }) => entry),
      this.#context,
    );
    if (problems.length > 0) throw new UndoError(problems, { cause });
    journal.abandon();
  }

  /**
   * @returns whether anything was changed
   */
  finish(names: readonly string[], installed: string): boolean {
    const { journal } = this.#context;
    const changes = journal.unfinished;
    const { done } = journal;
    journal.finish(changes === null ? done : mergeEntries(done, changes, names), installed);
    removeOldProgram(this.#context, paths.program);
    return changes !== null;
  }
}
