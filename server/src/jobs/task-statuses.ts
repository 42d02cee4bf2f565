import type { Clock } from '#server/clock.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import { scrub } from '#server/log-scrub.ts';

import type { BackgroundTask, TaskRecorder } from './background-task.ts';

/** The last run of a task in this process, and the next one. */
export interface TaskStatus {
  readonly finishedAt: Date | null;
  readonly failedAt: Date | null;
  /** Null: the last run succeeded. */
  readonly lastError: string | null;
  readonly tookMs: number | null;
  /** Null: it runs now, or never again. */
  readonly nextAt: Date | null;
  readonly isRunning: boolean;
}

const NEVER_RUN: TaskStatus = {
  finishedAt: null,
  failedAt: null,
  lastError: null,
  tookMs: null,
  nextAt: null,
  isRunning: false,
};

/** The tasks of this service, and what those of this process last did. Singleton tasks are rows of `jobs` instead. */
export class TaskStatuses implements TaskRecorder {
  readonly #clock: Clock;
  readonly #byName = new Map<string, TaskStatus>();
  #tasks: readonly BackgroundTask[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#tasks;
  }

  declare(tasks: readonly BackgroundTask[]): void {
    this.#tasks = tasks;
  }

  find(name: string): TaskStatus {
    return this.#byName.get(name) ?? NEVER_RUN;
  }

  scheduled(name: string, delayMs: number): void {
    const nextAt = delayMs === Infinity ? null : new Date(this.#clock.now().getTime() + delayMs);
    this.#byName.set(name, { ...this.find(name), nextAt });
  }

  started(name: string): void {
    this.#byName.set(name, { ...this.find(name), isRunning: true, nextAt: null });
  }

  finished(name: string, tookMs: number, error: unknown): void {
    const now = this.#clock.now();
    const failed = error !== undefined;
    this.#byName.set(name, {
      finishedAt: now,
      failedAt: failed ? now : this.find(name).failedAt,
      lastError: failed ? scrub(messageOf(error)) : null,
      tookMs: Math.round(tookMs),
      nextAt: null,
      isRunning: false,
    });
  }
}
