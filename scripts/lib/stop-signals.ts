import { constants } from 'node:os';

/** Whether the person at the keyboard, or whoever started this, wants it to end. */
export interface StopRequest {
  readonly signal: AbortSignal;
  /** The exit code that says so, 128 + the signal's number; null while nobody asked. */
  exitCode(): number | null;
}

/** Turns the signals that end a program into a request, so that it can clean up. */
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
