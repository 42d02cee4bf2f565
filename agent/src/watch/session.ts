import { setTimeout as wait } from 'node:timers/promises';

import { watchOnce } from './connect.ts';
import { WatchFailure } from './failure.ts';
import type { Message } from './read-message.ts';
import type { Target } from './target.ts';
import { addMessage, type ConnectionState, emptyView, type View } from './view.ts';

const FIRST_PAUSE_SECONDS = 1;
const LONGEST_PAUSE_SECONDS = 30;

/** As many snapshots may be late before it is told. */
const LATE_SNAPSHOTS = 3;

/** What a session is made of. */
interface SessionOptions {
  readonly target: Target;
  readonly signal: AbortSignal;
  /** What has come, or what became of the connection. */
  readonly onChange: (view: View, message: Message | null) => void;
  /** Shorter in tests. */
  readonly secondMs?: number;
}

/**
 * Watches an agent and connects again when the connection is lost, with pauses that double up to half a minute.
 * @throws WatchFailure when the first connection fails, or when there is no use in trying again
 */
export async function runSession(options: SessionOptions): Promise<void> {
  const { target, signal, secondMs = 1000 } = options;
  const session = new Session(options, secondMs);
  const lookout = setInterval(() => session.lookOut(), secondMs);
  try {
    while (!signal.aborted) {
      session.change({ kind: 'connecting' });
      try {
        await watchOnce(target, signal, (message) => session.receive(message));
      } catch (error) {
        await session.rest(error);
      }
    }
  } finally {
    clearInterval(lookout);
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

  /** Tells when snapshots are late. */
  lookOut(): void {
    const { state, hello } = this.#view;
    if (state.kind !== 'live' && state.kind !== 'silent') return;
    const seconds = Math.floor((performance.now() - this.#seenAtMs) / this.#secondMs);
    if (seconds > LATE_SNAPSHOTS * (hello?.interval_seconds ?? 1)) {
      this.change({ kind: 'silent', seconds });
    }
  }

  /** Waits before the next try; throws what there is no use in trying again after. */
  async rest(error: unknown): Promise<void> {
    const { message: why } = judge(error, this.#view);
    const { signal } = this.#options;
    for (let seconds = this.#pauseSeconds; seconds > 0 && !signal.aborted; seconds -= 1) {
      this.change({ kind: 'waiting', seconds, why });
      await pauseFor(this.#secondMs, signal);
    }
    this.#pauseSeconds = Math.min(this.#pauseSeconds * 2, LONGEST_PAUSE_SECONDS);
  }
}

/** What was never seen is told at once; so is what will not be different in a minute. */
function judge(error: unknown, { snapshot }: View): WatchFailure {
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
