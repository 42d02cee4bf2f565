import { constants } from 'node:os';

/** A request to stop, by a signal. */
export interface StopRequest {
  readonly signal: AbortSignal;
  /** The exit code, 128 + the number of the signal; null without a signal. */
  exitCode(): number | null;
}

/** Handles the signals that end a program as a request, so that it can clean up. */
export function listenForStop(): StopRequest {
  const request = new AbortController();
  let exitCode: number | null = null;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      exitCode ??= 128 + constants.signals[name];
      request.abort();
    });
  }
  return { signal: request.signal, exitCode: () => exitCode };
}
