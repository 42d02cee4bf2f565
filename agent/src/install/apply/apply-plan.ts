import { paths } from '../paths.ts';
import type { Step } from '../steps.ts';
import { explainFailure } from './machine.ts';
import type { Journal } from './journal.ts';
import { bindStep, type BoundStep, kindOf } from './kinds.ts';
import { removeOldProgram } from './kinds/program.ts';
import { listStale, mergeEntries } from './entries.ts';
import { describeUndo, undoEntries, UndoError } from './undo.ts';
import { type Entry, nameEntry, type StepContext } from './step-kind.ts';

/** What a run is told to do. */
export interface ApplyRequest {
  readonly steps: readonly Step[];
  /** What is written down of the installation once it is finished. */
  readonly installed: string;
  /** Looks at the finished thing. @throws Error saying what is not as it must be */
  readonly verify: () => Promise<void>;
}

/** Whom a run tells how it goes on. */
export interface Progress {
  readonly begin: (title: string) => void;
  /** @param isDone false when the machine was like that already */
  readonly end: (title: string, isDone: boolean, seconds: number) => void;
  /** @param isUndone whether there is anything to undo, which begins now */
  readonly failed: (reason: string, isUndone: boolean) => void;
}

export interface RunContext extends StepContext {
  readonly journal: Journal;
  readonly progress: Progress;
  /** @throws Interrupted when somebody has asked to stop */
  readonly checkInterruption: () => void;
}

/**
 * Makes the machine as a plan wants it, or leaves it as it was.
 * @returns whether anything had to be changed
 * @throws Error why not, after everything of this run was undone; UndoError when that failed, too
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

/** A program that Ctrl-C has ended fails of that, and says something else. */
function findCause(error: unknown, { checkInterruption }: RunContext): unknown {
  try {
    checkInterruption();
    return error;
  } catch (interruption) {
    return interruption;
  }
}

/**
 * Undoes what a run left that was killed.
 * @returns whether there was one
 * @throws UndoError when that cannot be done
 */
export async function undoUnfinished(context: RunContext): Promise<boolean> {
  const { journal, progress } = context;
  const changes = journal.unfinished;
  if (changes === null) {
    journal.tidy();
    // What a run left that was killed at its very end; the next one must not take it for its own.
    removeOldProgram(context, paths.program);
    return false;
  }
  progress.failed('An earlier run was cut off.', true);
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

  /** A run that changes nothing writes nothing down, either. */
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

  /** Undoes what an earlier installation did and this plan no longer has. */
  async removeStale(steps: readonly BoundStep[]): Promise<void> {
    const { journal, progress } = this.#context;
    const stale = listStale(journal, steps.map(nameEntry), this.#context);
    for (const entry of stale.toReversed()) {
      const title = `No longer wanted: ${describeUndo(entry).join('; ')}`;
      progress.begin(title);
      const startedMs = performance.now();
      const remarks = await this.#remove(entry);
      // What stays must not be reported as brought back.
      const outcome = remarks.length === 0 ? title : `No longer wanted: ${remarks.join(' ')}`;
      progress.end(outcome, true, (performance.now() - startedMs) / 1000);
    }
    for (const entry of stale) await kindOf(entry).afterUndo?.(entry, this.#context);
    if (stale.length > 0) await this.#notifyReaders(steps);
  }

  /** Applies those steps once more whose programs read what was undone. */
  async #notifyReaders(steps: readonly BoundStep[]): Promise<void> {
    for (const step of steps) {
      if (kindOf(step).afterUndo === undefined) continue;
      if (!(await step.isSatisfied(this.#context))) await this.apply(step);
    }
  }

  /** @returns sentences about what was not brought back as it was */
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
    const title = 'Look whether it works';
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

  /** @returns whether there was anything to end */
  finish(names: readonly string[], installed: string): boolean {
    const { journal } = this.#context;
    const changes = journal.unfinished;
    const { done } = journal;
    journal.finish(changes === null ? done : mergeEntries(done, changes, names), installed);
    removeOldProgram(this.#context, paths.program);
    return changes !== null;
  }
}
