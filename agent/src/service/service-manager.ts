import { spawn } from 'node:child_process';

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/** systemd takes a message within milliseconds. */
const TIMEOUT_MS = 10_000;

/** Fewer ticks without a sign of life would end an agent that is only late. */
const TICKS_BEFORE_RESTART = 3;

/** Who sends many signals at once is told of the last ones. */
const MAX_WAITING = 32;

/** systemd, told how the agent is (sd_notify(3)). Where nobody asked for it, nothing is done. */
export interface ServiceManager {
  /** Begun, or done with reading the files again. @param status a sentence for `systemctl status` */
  ready(status: string): void;
  /** Reads its files again. */
  reloading(): void;
  stopping(): void;
  /** A tick has happened: this alone keeps the watchdog quiet, so a sampler that stands still does not. */
  tick(status: string): void;
}

/** What it is known by. */
interface ServiceManagerOptions {
  /** `NOTIFY_SOCKET` and `WATCHDOG_USEC`, as systemd sets them. */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly log: Log;
  /** Shorter in tests. */
  readonly timeoutMs?: number;
}

/** Opens the way to systemd. */
export function openServiceManager(options: ServiceManagerOptions): ServiceManager {
  const { environment, clock, intervalSeconds } = options;
  if (environment['NOTIFY_SOCKET'] === undefined) return nobody;
  const sender = new Sender(options);
  const tickMs = intervalSeconds * 1000;
  const askedMs = Number(environment['WATCHDOG_USEC'] ?? 0) / 1000;
  const limitMs = askedMs > 0 ? Math.max(askedMs, TICKS_BEFORE_RESTART * tickMs) : Infinity;
  const longer = limitMs > askedMs && askedMs > 0 ? [`WATCHDOG_USEC=${limitMs * 1000}`] : [];
  let toldAtMs = clock.monotonicMs();
  return {
    ready: (status) => sender.send(['READY=1', `STATUS=${status}`, ...longer]),
    reloading: () => sender.send(['RELOADING=1', `MONOTONIC_USEC=${readMonotonicMicroseconds()}`]),
    stopping: () => sender.send(['STOPPING=1', 'STATUS=Stops.']),
    tick(status) {
      const nowMs = clock.monotonicMs();
      // The next tick would be later than half of the time, which is when systemd wants to hear.
      const isDue = nowMs + tickMs - toldAtMs > limitMs / 2;
      if (!isDue || sender.isBusy) return;
      toldAtMs = nowMs;
      sender.send(['WATCHDOG=1', `STATUS=${status}`]);
    },
  };
}

const nobody: ServiceManager = { ready() {}, reloading() {}, stopping() {}, tick() {} };

/** The clock of the kernel that systemd compares with. */
function readMonotonicMicroseconds(): bigint {
  return process.hrtime.bigint() / 1000n;
}

/** Sends messages by `systemd-notify`, one after the other: Node.js has no sockets of datagrams that are local. */
class Sender {
  readonly #options: ServiceManagerOptions;
  readonly #waiting: (readonly string[])[] = [];
  #isUnderWay = false;
  #isReported = false;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#isUnderWay;
  }

  send(message: readonly string[]): void {
    this.#waiting.push(message);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (!this.#isUnderWay) this.#sendNext();
  }

  #sendNext(): void {
    const message = this.#waiting.shift();
    this.#isUnderWay = message !== undefined;
    if (message === undefined) return;
    const { environment: env, timeoutMs: timeout = TIMEOUT_MS } = this.#options;
    const child = spawn('systemd-notify', [...message], {
      stdio: 'ignore',
      timeout,
      killSignal: 'SIGKILL',
      env,
    });
    child.once('error', (error) => this.#report(error.message));
    // Comes after an end as well as when it could not be started.
    child.once('close', (code, signal) => {
      // At a stop systemd ends the whole service, this child of it too.
      if (code !== 0 && signal !== 'SIGTERM')
        this.#report(`systemd-notify ended with ${code ?? signal}`);
      this.#sendNext();
    });
  }

  #report(why: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.log.warn(`systemd is not told how the agent is: ${why}.`);
  }
}
