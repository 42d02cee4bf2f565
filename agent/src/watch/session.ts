import { setTimeout as wait } from 'node:timers/promises';

import { watchOnce } from './connect.ts';
import { WatchFailure } from './failure.ts';
import type { Message } from './read-message.ts';
import type { Target } from './target.ts';
import { addMessage, type ConnectionState, emptyView, type View } from './view.ts';

const FIRST_PAUSE_SECONDS = 1;
const LONGEST_PAUSE_SECONDS = 30;

/** The connection is shown as silent after this many missing snapshots. */
const LATE_SNAPSHOTS = 3;

/** Dependencies of a session. */
interface SessionOptions {
  readonly target: Target;
  readonly signal: AbortSignal;
  /** Called for each message and each change of the connection. */
  readonly onChange: (view: View, message: Message | null) => void;
  /** Shorter in tests. */
  readonly secondMs?: number;
}

/**
 * Watches an agent and reconnects with exponential backoff up to half a minute.
 * @throws WatchFailure when the first connection fails, or a retry is pointless
 */
export async function runSession(options: SessionOptions): Promise<void> {
  const { target, signal, secondMs = 1000 } = options;
  const session = new Session(options, secondMs);
  const timer = setInterval(() => session.checkSilence(), secondMs);
  try {
    while (!signal.aborted) {
      session.change({ kind: 'connecting' });
      try {
        await watchOnce(target, signal, (message) => session.receive(message));
      } catch (error) {
        await session.backOff(error);
      }
    }
  } finally {
    clearInterval(timer);
  }
}

class Session {
  readonly #options: SessionOptions;
  readonly #secondMs: number;
  #view: View;
  #pauseSeconds = FIRST_PAUSE_SECONDS;
  #seenAtMs = 0;

  constructor(options: SessionOptions, secondMs: number) {
    this.#options = options;
    this.#secondMs = secondMs;
    this.#view = emptyView(options.target.address);
  }

  change(state: ConnectionState): void {
    this.#view = { ...this.#view, state };
    this.#options.onChange(this.#view, null);
  }

  receive(message: Message): void {
    this.#seenAtMs = performance.now();
    this.#pauseSeconds = FIRST_PAUSE_SECONDS;
    this.#view = addMessage(this.#view, message);
    this.#options.onChange(this.#view, message);
  }

  /** Reports late snapshots. */
  checkSilence(): void {
    const { state, hello } = this.#view;
    if (state.kind !== 'live' && state.kind !== 'silent') return;
    const seconds = Math.floor((performance.now() - this.#seenAtMs) / this.#secondMs);
    if (seconds > LATE_SNAPSHOTS * (hello?.interval_seconds ?? 1)) {
      this.change({ kind: 'silent', seconds });
    }
  }

  /** Waits before the next attempt. @throws WatchFailure when a retry is pointless */
  async backOff(error: unknown): Promise<void> {
    const { message: why } = requireRetryable(error, this.#view);
    const { signal } = this.#options;
    for (let seconds = this.#pauseSeconds; seconds > 0 && !signal.aborted; seconds -= 1) {
      this.change({ kind: 'waiting', seconds, why });
      await pauseFor(this.#secondMs, signal);
    }
    this.#pauseSeconds = Math.min(this.#pauseSeconds * 2, LONGEST_PAUSE_SECONDS);
  }
}

/** Rethrows failures of the first connection, and failures that a retry does not fix. */
function requireRetryable(error: unknown, { snapshot }: View): WatchFailure {
  if (error instanceof WatchFailure && error.kind === 'unreachable' && snapshot !== null)
    return error;
  throw error;
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
