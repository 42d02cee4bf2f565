import { type StatfsWorker, type Space, startStatfsWorker } from './statfs-worker.ts';

/** The last known state of a mount. */
interface MountState {
  /** The last answer; null before the first, and when statfs failed. */
  readonly space: Space | null;
  /** Whether statfs has been pending for longer than the deadline. */
  readonly stale: boolean;
}

/** A healthy server answers in a thousandth of this. */
const DEADLINE_MS = 2_000;

/** Each worker that hangs keeps 9 MB. */
const MAX_STUCK = 8;

interface MountRecord {
  space: Space | null;
  /** Since when statfs is pending; null after the answer. */
  pendingSinceMs: number | null;
  answered: boolean;
}

interface Probe {
  readonly mountPoint: string;
  readonly worker: StatfsWorker;
  readonly startedAtMs: number;
}

/**
 * Reads the space of mounts that may hang, without blocking the caller. One worker probes mount after mount. When one does not
 * answer in time, its worker is abandoned and another one probes the rest; a mount that hangs is not probed again until it
 * has answered.
 */
export class MountProber {
  readonly #monotonicMs: () => number;
  readonly #createWorker: typeof startStatfsWorker;
  readonly #records = new Map<string, MountRecord>();
  readonly #stuck = new Map<StatfsWorker, Probe>();
  #queue: string[] = [];
  #idle: StatfsWorker | null = null;
  #probe: Probe | null = null;

  constructor(monotonicMs: () => number, createWorker = startStatfsWorker) {
    this.#monotonicMs = monotonicMs;
    this.#createWorker = createWorker;
  }

  /** Probes these mounts again, except pending ones, and drops all others. Without mounts, the worker is stopped. */
  request(mountPoints: readonly string[]): void {
    const wanted = new Set(mountPoints);
    this.#queue = this.#queue.filter((mountPoint) => wanted.has(mountPoint));
    for (const known of this.#records.keys()) {
      if (!wanted.has(known)) this.#records.delete(known);
    }
    for (const mountPoint of mountPoints) this.#enqueue(mountPoint);
    this.#startNext();
    if (mountPoints.length > 0) return;
    this.#idle?.stop();
    this.#idle = null;
  }

  /** Returns the last known state; null for an unknown mount, and while the first probe is pending and not late. */
  stateOf(mountPoint: string): MountState | null {
    this.#startNext();
    const record = this.#records.get(mountPoint);
    if (record === undefined) return null;
    const { space, pendingSinceMs, answered } = record;
    const stale = pendingSinceMs !== null && this.#monotonicMs() - pendingSinceMs > DEADLINE_MS;
    return answered || stale ? { space, stale } : null;
  }

  /** Whether a worker is blocked in statfs, so that the process cannot exit normally. */
  isStuck(): boolean {
    return this.#stuck.size > 0 || this.#probe !== null;
  }

  close(): void {
    for (const worker of [this.#idle, this.#probe?.worker, ...this.#stuck.keys()]) worker?.stop();
  }

  #enqueue(mountPoint: string): void {
    const record = this.#records.get(mountPoint) ?? {
      space: null,
      pendingSinceMs: null,
      answered: false,
    };
    this.#records.set(mountPoint, record);
    if (record.pendingSinceMs !== null) return;
    record.pendingSinceMs = this.#monotonicMs();
    // A mount that was dropped and returned may still block a worker.
    if (!this.#isProbed(mountPoint)) this.#queue.push(mountPoint);
  }

  #isProbed(mountPoint: string): boolean {
    return [this.#probe, ...this.#stuck.values()].some((each) => each?.mountPoint === mountPoint);
  }

  #startNext(): void {
    this.#abandonLateProbe();
    if (this.#probe !== null || this.#stuck.size >= MAX_STUCK) return;
    const mountPoint = this.#queue.shift();
    if (mountPoint === undefined) return;
    const worker = this.#idle ?? this.#startWorker();
    this.#idle = null;
    const startedAtMs = this.#monotonicMs();
    this.#probe = { mountPoint, worker, startedAtMs };
    // The time in the queue does not count.
    const record = this.#records.get(mountPoint);
    if (record !== undefined) record.pendingSinceMs = startedAtMs;
    worker.request(mountPoint);
  }

  #abandonLateProbe(): void {
    if (this.#probe === null) return;
    if (this.#monotonicMs() - this.#probe.startedAtMs <= DEADLINE_MS) return;
    this.#stuck.set(this.#probe.worker, this.#probe);
    this.#probe = null;
  }

  #startWorker(): StatfsWorker {
    const worker = this.#createWorker((space) => this.#receive(worker, space));
    return worker;
  }

  #receive(worker: StatfsWorker, space: Space | null): void {
    const isCurrent = this.#probe?.worker === worker;
    const done = isCurrent ? this.#probe : this.#stuck.get(worker);
    const record = this.#records.get(done?.mountPoint ?? '');
    if (record !== undefined) {
      Object.assign(record, { space, pendingSinceMs: null, answered: true });
    }
    if (isCurrent) {
      this.#probe = null;
      this.#idle = worker;
    } else if (this.#stuck.delete(worker)) {
      worker.stop();
    }
    this.#startNext();
  }
}
