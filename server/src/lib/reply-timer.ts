/** A timer that fires later than this was delayed by a pause of this process. */
const LATE_MS = 50;

/**
 * Calls back once when no reply arrived in time; returns a function that cancels this. After a pause of the event loop, timers
 * run before the sockets are read, and a request may not have been sent: then arrived replies are read first, and the time
 * starts again, once.
 */
export function startReplyTimer(ms: number, onExpired: () => void): () => void {
  let isCancelled = false;
  let timer: NodeJS.Timeout;
  const start = (isAgain: boolean): void => {
    const startedAt = performance.now();
    timer = setTimeout(() => {
      const isLate = performance.now() - startedAt > ms + LATE_MS;
      // The event loop reads the sockets before it calls this.
      setImmediate(() => {
        if (isCancelled) return;
        if (isLate && !isAgain) start(true);
        else onExpired();
      });
    }, ms);
  };
  start(false);
  return () => {
    isCancelled = true;
    clearTimeout(timer);
  };
}
