/** Waits, or until a signal ends the wait. */
export async function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}

/** Quick at first, while the user looks on. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 15_000;

/** Returns how long to wait before the next request. @param asked how many were sent before */
export function purchaseWaitMs(asked: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.3 ** asked);
}
