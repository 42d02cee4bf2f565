import type { Worker } from 'node:cluster';

/**
 * Messages in a row that had to wait for others, after which the worker counts as not reading. Node.js reports a backlog of more than
 * 128 KiB. The largest answer has 256 KiB, so that no more than 51 MiB wait.
 */
const MAX_DELAYED = 200;

/** Sends messages to a worker. A worker that ended does not receive them. */
export interface MessageSender {
  readonly send: (message: object) => void;
  /** Resolves when the worker requests more than it reads: its answers would fill the memory of this process. */
  readonly stoppedReading: Promise<void>;
}

/** @param worker null: it was not started */
export function createMessageSender(
  worker: Pick<Worker, 'isConnected' | 'process'> | null,
): MessageSender {
  const { promise: stoppedReading, resolve } = Promise.withResolvers<void>();
  let delayed = 0;
  const send = (message: object): void => {
    if (worker?.isConnected() !== true || delayed > MAX_DELAYED) return;
    // With a callback, a closed channel is no error event.
    const isSent = worker.process.send?.(message, undefined, undefined, () => {}) ?? true;
    delayed = isSent ? 0 : delayed + 1;
    if (delayed > MAX_DELAYED) resolve();
  };
  return { send, stoppedReading };
}
