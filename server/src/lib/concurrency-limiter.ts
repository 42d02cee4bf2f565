import { overloaded } from '../errors.ts';

export interface ConcurrencyLimiterOptions {
  /** Calls that run at the same time. */
  readonly limit: number;
  /** Calls that wait; the next one is rejected at once. */
  readonly maxQueued: number;
  /** Calls of one key, running and waiting, so that one key cannot fill the queue. Default: unlimited. */
  readonly maxPerKey?: number;
  /** A call that waits longer is rejected. Default: unlimited. */
  readonly queueTimeoutMs?: number;
  /** The `Retry-After` of a rejection. Default: 1. */
  readonly retryAfterSeconds?: number;
  /** Whether every waiting call would fail with this error too; they are then rejected with it. Default: never. */
  readonly isSharedFailure?: (error: unknown) => boolean | Promise<boolean>;
  /** The same for the waiting calls of one key. Default: never. */
  readonly isKeyFailure?: (error: unknown) => boolean;
}

/** Limits long calls to one at a time; a call that waits for five seconds is rejected, so that no client waits for minutes. */
export function createSerialLimiter(retryAfterSeconds: number): ConcurrencyLimiter {
  return new ConcurrencyLimiter({
    limit: 1,
    maxQueued: 4,
    queueTimeoutMs: 5_000,
    retryAfterSeconds,
  });
}

interface Waiter {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/** A call without a key gets a symbol as long as it waits. */
type Key = string | symbol;

/**
 * A semaphore with a bounded queue. Calls start in the order of their arrival. Calls with the same key run one at a
 * time, and keys are scheduled in rotation, so that a key with many calls does not delay the others.
 *
 * A call must not wait for another call to the same limiter: both could wait for each other.
 */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimiterOptions;
  /** Keys in the order in which they may start; a key moves to the end when one of its calls starts. */
  readonly #queue = new Map<Key, Waiter[]>();
  readonly #runningKeys = new Set<Key>();
  #running = 0;
  #queued = 0;
  #createClosedError: (() => Error) | null = null;

  constructor(options: ConcurrencyLimiterOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queued;
  }

  /**
   * Runs a call as soon as the limit allows.
   * @throws overloaded (503 with Retry-After) when the queue is full or the call waited for too long
   * @throws the error of another call that {@link ConcurrencyLimiterOptions.isSharedFailure} accepts
   * @throws the error given to {@link close}
   */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#run(undefined, work);
  }

  /**
   * Like {@link run}, but never at the same time as another call with this key.
   * @throws also overloaded when the key has too many calls, and what `isKeyFailure` accepts
   */
  runForKey<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#run(key, work);
  }

  /** Rejects the calls that wait and all later ones; running calls continue. */
  close(createError: () => Error): void {
    this.#createClosedError = createError;
    this.#rejectQueued(createError());
  }

  async #run<Result>(key: string | undefined, work: () => Promise<Result>): Promise<Result> {
    const wait = this.#acquire(key);
    if (wait !== null) await wait;
    try {
      return await work();
    } catch (error) {
      await this.#spreadFailure(key, error);
      throw error;
    } finally {
      this.#release(key);
    }
  }

  /** Acquires a slot and returns null, or returns a promise that resolves when a slot was handed over. */
  #acquire(key: string | undefined): Promise<void> | null {
    if (this.#createClosedError !== null) throw this.#createClosedError();
    const { limit, maxQueued, maxPerKey = Infinity } = this.#options;
    if (key !== undefined && this.#countCalls(key) >= maxPerKey) throw this.#overloaded();
    if (this.#running < limit && (key === undefined || !this.#runningKeys.has(key))) {
      this.#start(key);
      return null;
    }
    if (this.#queued >= maxQueued) throw this.#overloaded();
    return this.#enqueue(key ?? Symbol());
  }

  #countCalls(key: string): number {
    return (this.#queue.get(key)?.length ?? 0) + Number(this.#runningKeys.has(key));
  }

  #enqueue(key: Key): Promise<void> {
    const { promise, resolve: start, reject } = Promise.withResolvers<void>();
    const waiter = { start, reject };
    const waiters = this.#queue.get(key) ?? [];
    waiters.push(waiter);
    this.#queue.set(key, waiters);
    this.#queued++;
    const { queueTimeoutMs } = this.#options;
    if (queueTimeoutMs === undefined) return promise;
    const timer = setTimeout(() => this.#expire(key, waiter), queueTimeoutMs);
    return promise.finally(() => clearTimeout(timer));
  }

  #expire(key: Key, waiter: Waiter): void {
    const left = this.#queue.get(key)?.filter((other) => other !== waiter) ?? [];
    if (left.length > 0) this.#queue.set(key, left);
    else this.#queue.delete(key);
    this.#queued--;
    waiter.reject(this.#overloaded());
  }

  #start(key: Key | undefined): void {
    this.#running++;
    if (key !== undefined) this.#runningKeys.add(key);
  }

  /** Hands the slot to the next call in the same step, so that no later call can acquire it. */
  #release(key: string | undefined): void {
    this.#running--;
    if (key !== undefined) this.#runningKeys.delete(key);
    for (const [next, waiters] of this.#queue) {
      if (this.#runningKeys.has(next)) continue;
      this.#queue.delete(next);
      const [first, ...rest] = waiters;
      if (rest.length > 0) this.#queue.set(next, rest);
      this.#queued--;
      this.#start(typeof next === 'string' ? next : undefined);
      first?.start();
      return;
    }
  }

  async #spreadFailure(key: string | undefined, error: unknown): Promise<void> {
    const { isKeyFailure, isSharedFailure } = this.#options;
    if (key !== undefined && isKeyFailure?.(error) === true) {
      const waiters = this.#queue.get(key) ?? [];
      this.#queue.delete(key);
      this.#queued -= waiters.length;
      for (const { reject } of waiters) reject(error);
    }
    if ((await isSharedFailure?.(error)) === true) this.#rejectQueued(error);
  }

  #rejectQueued(error: unknown): void {
    const waiters = [...this.#queue.values()].flat();
    this.#queue.clear();
    this.#queued = 0;
    for (const { reject } of waiters) reject(error);
  }

  #overloaded(): Error {
    return overloaded(this.#options.retryAfterSeconds ?? 1);
  }
}
