import type { Fleet } from '../core/types.ts';

/** A look at another tab is no reason to connect to all machines again. */
const HIDDEN_MS = 10_000;

/** Pauses the fleet while the page is hidden. */
export class HiddenPause {
  readonly #fleet: Fleet;
  readonly #onEnd: (fromMs: number, untilMs: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pausedAtMs: number | null = null;
  readonly #listen = (): void => this.#react();

  /** @param onEnd called after a pause, with its times in epoch milliseconds */
  constructor(fleet: Fleet, onEnd: (fromMs: number, untilMs: number) => void) {
    this.#fleet = fleet;
    this.#onEnd = onEnd;
    document.addEventListener('visibilitychange', this.#listen);
    this.#react();
  }

  close(): void {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#listen);
  }

  #react(): void {
    clearTimeout(this.#timer);
    if (document.hidden) this.#timer = setTimeout(() => this.#pause(), HIDDEN_MS);
    else if (this.#pausedAtMs !== null) this.#resume(this.#pausedAtMs);
  }

  #pause(): void {
    this.#pausedAtMs = Date.now();
    this.#fleet.pause();
  }

  #resume(fromMs: number): void {
    this.#pausedAtMs = null;
    this.#fleet.resume();
    this.#onEnd(fromMs, Date.now());
  }
}
