import { Type } from 'typebox';
import { Parse } from 'typebox/value';

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

/** The statuses of tasks by their names. */
export type TaskStatusList = ReadonlyMap<string, TaskStatus>;

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
  #readLeader: (() => Promise<TaskStatusList>) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get tasks(): readonly BackgroundTask[] {
    return this.#tasks;
  }

  declare(tasks: readonly BackgroundTask[]): void {
    this.#tasks = tasks;
  }

  /** Sets how the statuses of tasks for the leader are read. Default: this process is the leader. */
  setLeader(read: () => Promise<TaskStatusList>): void {
    this.#readLeader = read;
  }

  /** Returns the status of every task, of those for the leader in the leader. */
  async readAll(): Promise<TaskStatusList> {
    const ofLeader = await this.#readLeader?.();
    return new Map(
      this.#tasks.map(({ name, isForLeader = false }) => [
        name,
        (isForLeader ? ofLeader?.get(name) : undefined) ?? this.find(name),
      ]),
    );
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

const nullableTime = Type.Union([Type.Null(), Type.String()]);

const StatusEntries = Type.Array(
  Type.Tuple([
    Type.String(),
    Type.Object({
      finishedAt: nullableTime,
      failedAt: nullableTime,
      lastError: nullableTime,
      tookMs: Type.Union([Type.Null(), Type.Number()]),
      nextAt: nullableTime,
      isRunning: Type.Boolean(),
    }),
  ]),
);

/** Reads the statuses of another process, which are the entries of a map as JSON. */
export function parseTaskStatuses(json: unknown): TaskStatusList {
  return new Map(
    Parse(StatusEntries, json ?? []).map(([name, status]) => [
      name,
      {
        ...status,
        finishedAt: toDate(status.finishedAt),
        failedAt: toDate(status.failedAt),
        nextAt: toDate(status.nextAt),
      },
    ]),
  );
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
