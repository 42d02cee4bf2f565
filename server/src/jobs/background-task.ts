import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

/** Names a task in metrics, and its failures in the log. */
export interface TaskIdentity {
  /** The label `task` of the metrics. */
  readonly name: string;
  /** Logged as `<event>_failed` at the first failure, and as `<event>_recovered` at the next success. */
  readonly event: string;
  /** A verb phrase for the log messages "could not …" and "can … again". */
  readonly action: string;
  /** Default: `warn`. */
  readonly failureLevel?: 'warn' | 'error';
}

/** Work that is repeated, never twice at the same time. */
export interface BackgroundTask extends TaskIdentity {
  /**
   * `process`: each process runs it. `singleton`: it is a row in the table of jobs, and one process at a time runs it;
   * the interval applies to all processes together.
   */
  readonly scope: 'process' | 'singleton';
  /** Of the workers of one service, only the leader runs a process's task. Default: every worker runs it. */
  readonly isForLeader?: boolean;
  /** False: a singleton is not scheduled. Default: true. */
  readonly isEnabled?: boolean;
  /** From the end of a run to the start of the next; Infinity: it runs once after the start. */
  readonly intervalMs: number;
  /** From the start of the service to the first run of a process's task. Default: the interval. */
  readonly firstRunMs?: number;
  /** A run that takes longer is aborted and counts as failed. Default: {@link DEFAULT_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  /** Returns the milliseconds to the next run where they differ from the interval. */
  readonly run: (signal: AbortSignal) => Promise<number | void>;
  /** Called at the stop, after the last run. */
  readonly finish?: () => Promise<void>;
}

/** Something that is started and stopped with the service. */
export interface Runner {
  start(): void;
  /** Starts nothing more, and waits for what is running. */
  stop(): Promise<void>;
}

/** Records the runs of tasks, by their names. */
export interface TaskRecorder {
  /** @param delayMs until the next run; Infinity: never */
  scheduled(name: string, delayMs: number): void;
  started(name: string): void;
  /** @param error undefined: the run succeeded */
  finished(name: string, tookMs: number, error: unknown): void;
}

export interface RunnerDependencies {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: Pick<Metrics, 'countTask'>;
  /** Default: not kept. */
  readonly taskStatuses?: TaskRecorder;
}

export const DEFAULT_TIMEOUT_MS = 5 * 60_000;

/** Counts every run, and logs the first of several failures and the recovery. */
export class TaskObserver {
  readonly #task: TaskIdentity;
  readonly #deps: RunnerDependencies;
  #isFailing = false;

  constructor(task: TaskIdentity, deps: RunnerDependencies) {
    this.#task = task;
    this.#deps = deps;
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  succeeded(): void {
    const { name: task, event, action } = this.#task;
    this.#deps.metrics.countTask(task, 'succeeded');
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#deps.log.info({ event: `${event}_recovered`, task }, `can ${action} again`);
  }

  failed(error: unknown): void {
    const { name: task, event, action, failureLevel = 'warn' } = this.#task;
    this.#deps.metrics.countTask(task, 'failed');
    if (this.#isFailing) return;
    this.#isFailing = true;
    const fields = { event: `${event}_failed`, task, err: error };
    this.#deps.log[failureLevel](fields, `could not ${action}; retrying`);
  }
}

/** The result of a run of a task. */
interface TaskOutcome {
  /** Until the next run. */
  readonly delayMs: number;
  /** Why the run failed; undefined: it succeeded. */
  readonly error?: unknown;
}

/**
 * Runs a task once, waits for the end of its work and reports the outcome to the observer: a run fails at its time limit,
 * and whatever it does later changes nothing. A run that the stop aborted has not failed. Never throws.
 */
export async function runTask(
  { intervalMs, run, timeoutMs = DEFAULT_TIMEOUT_MS }: BackgroundTask,
  observer: TaskObserver,
  stopping: AbortSignal,
): Promise<TaskOutcome> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const onTimeout = (): void => observer.failed(timeout.reason);
  timeout.addEventListener('abort', onTimeout);
  try {
    const delayMs = (await run(AbortSignal.any([stopping, timeout]))) ?? intervalMs;
    if (timeout.aborted) return { delayMs, error: timeout.reason };
    observer.succeeded();
    return { delayMs };
  } catch (error) {
    if (timeout.aborted) return { delayMs: intervalMs, error: timeout.reason };
    if (!stopping.aborted) observer.failed(error);
    return { delayMs: intervalMs, error };
  } finally {
    timeout.removeEventListener('abort', onTimeout);
  }
}

/** Runs a task in this process at its interval. */
export class TaskRunner implements Runner {
  readonly #task: BackgroundTask;
  readonly #observer: TaskObserver;
  readonly #statuses: RunnerDependencies['taskStatuses'];
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isRunDue = false;

  constructor(task: BackgroundTask, deps: RunnerDependencies) {
    this.#task = task;
    this.#observer = new TaskObserver(task, deps);
    this.#statuses = deps.taskStatuses;
  }

  start(): void {
    this.#schedule(this.#task.firstRunMs ?? this.#task.intervalMs);
  }

  /** Runs the task now, or again after the current run. A failing task waits for its interval. */
  runNow(): void {
    if (this.#observer.isFailing || this.#stopping.signal.aborted) return;
    if (this.#running === null) this.#launch();
    else this.#isRunDue = true;
  }

  /** Aborts the run in progress and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await this.#task.finish?.();
  }

  #schedule(delayMs: number): void {
    this.#statuses?.scheduled(this.#task.name, delayMs);
    if (this.#stopping.signal.aborted || delayMs === Infinity) return;
    this.#timer = setTimeout(() => this.#launch(), delayMs);
  }

  #launch(): void {
    clearTimeout(this.#timer);
    this.#isRunDue = false;
    this.#running = this.#runAndSchedule();
  }

  async #runAndSchedule(): Promise<void> {
    const { name } = this.#task;
    const startedAt = performance.now();
    this.#statuses?.started(name);
    const { delayMs, error } = await runTask(this.#task, this.#observer, this.#stopping.signal);
    this.#statuses?.finished(name, performance.now() - startedAt, error);
    this.#running = null;
    this.#schedule(this.#isRunDue && !this.#observer.isFailing ? 0 : delayMs);
  }
}
