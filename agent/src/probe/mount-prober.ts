import { type MountThread, type Space, startMountThread } from './statfs-worker.ts';

/** What is known of a mount that may hang. */
interface MountState {
  /** Its last answer; null when there was none, or it could not say. */
  readonly space: Space | null;
  /** Whether it owes an answer for too long. */
  readonly stale: boolean;
}

/** A server that is well answers in a thousandth of this. */
const DEADLINE_MS = 2_000;

/** Each thread that hangs keeps 9 MB. */
const MAX_STUCK = 8;

interface Question {
  space: Space | null;
  /** Since when an answer is owed; null when it is there. */
  owedSinceMs: number | null;
  answered: boolean;
}

interface Errand {
  readonly mountPoint: string;
  readonly thread: MountThread;
  readonly startedAtMs: number;
}

/**
 * Asks mounts that may hang, without ever waiting for them. One thread goes from mount to mount. When one does not answer
 * in time, the thread is left there, and another one serves the rest; a mount that hangs is not asked again until it has
 * answered.
 */
export class MountProber {
  readonly #monotonicMs: () => number;
  readonly #startThread: typeof startMountThread;
  readonly #questions = new Map<string, Question>();
  readonly #stuck = new Map<MountThread, Errand>();
  #queue: string[] = [];
  #idle: MountThread | null = null;
  #errand: Errand | null = null;

  constructor(monotonicMs: () => number, startThread = startMountThread) {
    this.#monotonicMs = monotonicMs;
    this.#startThread = startThread;
  }

  /** Asks these mounts again, but for those that still owe an answer; others are forgotten. Without any, no thread is kept. */
  ask(mountPoints: readonly string[]): void {
    const wanted = new Set(mountPoints);
    this.#queue = this.#queue.filter((mountPoint) => wanted.has(mountPoint));
    for (const known of this.#questions.keys()) {
      if (!wanted.has(known)) this.#questions.delete(known);
    }
    for (const mountPoint of mountPoints) this.#enqueue(mountPoint);
    this.#serveNext();
    if (mountPoints.length > 0) return;
    this.#idle?.stop();
    this.#idle = null;
  }

  /** What is known now; null when it was not asked, or has not answered its first question yet and is not late. */
  stateOf(mountPoint: string): MountState | null {
    this.#serveNext();
    const question = this.#questions.get(mountPoint);
    if (question === undefined) return null;
    const { space, owedSinceMs, answered } = question;
    const stale = owedSinceMs !== null && this.#monotonicMs() - owedSinceMs > DEADLINE_MS;
    return answered || stale ? { space, stale } : null;
  }

  /** Whether a thread waits for a mount that may never answer: then the process cannot end by itself. */
  isStuck(): boolean {
    return this.#stuck.size > 0 || this.#errand !== null;
  }

  close(): void {
    for (const thread of [this.#idle, this.#errand?.thread, ...this.#stuck.keys()]) thread?.stop();
  }

  #enqueue(mountPoint: string): void {
    const question = this.#questions.get(mountPoint) ?? {
      space: null,
      owedSinceMs: null,
      answered: false,
    };
    this.#questions.set(mountPoint, question);
    if (question.owedSinceMs !== null) return;
    question.owedSinceMs = this.#monotonicMs();
    // A mount that was forgotten and came back may still hold a thread.
    if (!this.#isVisited(mountPoint)) this.#queue.push(mountPoint);
  }

  #isVisited(mountPoint: string): boolean {
    return [this.#errand, ...this.#stuck.values()].some((each) => each?.mountPoint === mountPoint);
  }

  #serveNext(): void {
    this.#leaveLateErrand();
    if (this.#errand !== null || this.#stuck.size >= MAX_STUCK) return;
    const mountPoint = this.#queue.shift();
    if (mountPoint === undefined) return;
    const thread = this.#idle ?? this.#hire();
    this.#idle = null;
    const startedAtMs = this.#monotonicMs();
    this.#errand = { mountPoint, thread, startedAtMs };
    // It is not to blame for the mount before it.
    const question = this.#questions.get(mountPoint);
    if (question !== undefined) question.owedSinceMs = startedAtMs;
    thread.ask(mountPoint);
  }

  #leaveLateErrand(): void {
    if (this.#errand === null) return;
    if (this.#monotonicMs() - this.#errand.startedAtMs <= DEADLINE_MS) return;
    this.#stuck.set(this.#errand.thread, this.#errand);
    this.#errand = null;
  }

  #hire(): MountThread {
    const thread = this.#startThread((space) => this.#receive(thread, space));
    return thread;
  }

  #receive(thread: MountThread, space: Space | null): void {
    const onErrand = this.#errand?.thread === thread;
    const done = onErrand ? this.#errand : this.#stuck.get(thread);
    const question = this.#questions.get(done?.mountPoint ?? '');
    if (question !== undefined) {
      Object.assign(question, { space, owedSinceMs: null, answered: true });
    }
    if (onErrand) {
      this.#errand = null;
      this.#idle = thread;
    } else if (this.#stuck.delete(thread)) {
      thread.stop();
    }
    this.#serveNext();
  }
}
