import { spawn } from 'node:child_process';

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/** systemd accepts a message within milliseconds. */
const TIMEOUT_MS = 10_000;

/** With fewer ticks, the watchdog would end an agent that is only late. */
const TICKS_BEFORE_RESTART = 3;

/** Older messages are dropped. */
const MAX_QUEUED = 32;

/** Notifies systemd (sd_notify(3)); does nothing without `NOTIFY_SOCKET`. */
export interface ServiceManager {
  /** Reports a finished start or reload. @param status a sentence for `systemctl status` */
  ready(status: string): void;
  /** Reports the start of a reload. */
  reloading(): void;
  stopping(): void;
  /** Reports a tick. Only ticks feed the watchdog, so that a sampler that hangs is restarted. */
  tick(status: string): void;
}

/** Dependencies of the notifier. */
interface ServiceManagerOptions {
  /** `NOTIFY_SOCKET` and `WATCHDOG_USEC`, as systemd sets them. */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly log: Log;
  /** Shorter in tests. */
  readonly timeoutMs?: number;
}

/** Opens the notifier. */
export function openServiceManager(options: ServiceManagerOptions): ServiceManager {
  const { environment, clock, intervalSeconds } = options;
  if (environment['NOTIFY_SOCKET'] === undefined) return noServiceManager;
  const sender = new Sender(options);
  const tickMs = intervalSeconds * 1000;
  const requestedMs = Number(environment['WATCHDOG_USEC'] ?? 0) / 1000;
  const limitMs = requestedMs > 0 ? Math.max(requestedMs, TICKS_BEFORE_RESTART * tickMs) : Infinity;
  const extension =
    limitMs > requestedMs && requestedMs > 0 ? [`WATCHDOG_USEC=${limitMs * 1000}`] : [];
  let notifiedAtMs = clock.monotonicMs();
  return {
    ready: (status) => sender.send(['READY=1', `STATUS=${status}`, ...extension]),
    reloading: () => sender.send(['RELOADING=1', `MONOTONIC_USEC=${readMonotonicMicroseconds()}`]),
    stopping: () => sender.send(['STOPPING=1', 'STATUS=Stopping.']),
    tick(status) {
      const nowMs = clock.monotonicMs();
      // Due when the next tick would come after half of the watchdog time.
      const isDue = nowMs + tickMs - notifiedAtMs > limitMs / 2;
      if (!isDue || sender.isBusy) return;
      notifiedAtMs = nowMs;
      sender.send(['WATCHDOG=1', `STATUS=${status}`]);
    },
  };
}

const noServiceManager: ServiceManager = { ready() {}, reloading() {}, stopping() {}, tick() {} };

/** The kernel clock that systemd compares with. */
function readMonotonicMicroseconds(): bigint {
  return process.hrtime.bigint() / 1000n;
}

/** Sends messages in order with `systemd-notify`: Node.js has no local datagram sockets. */
class Sender {
  readonly #options: ServiceManagerOptions;
  readonly #queue: (readonly string[])[] = [];
  #isSending = false;
  #isReported = false;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#isSending;
  }

  send(message: readonly string[]): void {
    this.#queue.push(message);
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    if (!this.#isSending) this.#sendNext();
  }

  #sendNext(): void {
    const message = this.#queue.shift();
    this.#isSending = message !== undefined;
    if (message === undefined) return;
    const { environment: env, timeoutMs: timeout = TIMEOUT_MS } = this.#options;
    const child = spawn('systemd-notify', [...message], {
      stdio: 'ignore',
      timeout,
      killSignal: 'SIGKILL',
      env,
    });
    child.once('error', (error) => this.#report(error.message));
    // Emitted after an exit and after a failed start.
    child.once('close', (code, signal) => {
      // At a stop, systemd ends this child with the service.
      if (code !== 0 && signal !== 'SIGTERM')
        this.#report(`systemd-notify ended with ${code ?? signal}`);
      this.#sendNext();
    });
  }

  #report(error: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.log.warn('systemd.notify_failed', 'could not notify systemd', { error });
  }
}
