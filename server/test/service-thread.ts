import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

/** What a started service thread reports. */
const Started = Type.Object({
  url: Type.String(),
  /** An API key with every scope. */
  apiKey: Type.String(),
  /** Cookies of separate sessions of an administrator with a fresh proof. */
  cookies: Type.Array(Type.String()),
  licenseKey: Type.String(),
});

/** A test service in a thread of its own. */
export interface ServiceThread extends AsyncDisposable, Static<typeof Started> {
  /**
   * Returns the processor time that the thread has used so far, in milliseconds. Other threads and programs do not count, and the
   * answer waits while the event loop is held.
   */
  readProcessorMs(): Promise<number>;
}

const STOP_TIMEOUT_MS = 20_000;

/** Starts a test service whose event loop is not that of the test. */
export async function startServiceThread(): Promise<ServiceThread> {
  const worker = new Worker(new URL('./run-service-thread.ts', import.meta.url));
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  worker.once('error', failed.reject);
  const receive = async (): Promise<unknown> => {
    const [message]: unknown[] = await Promise.race([once(worker, 'message'), failed.promise]);
    return message;
  };
  const started = Parse(Started, await receive());
  return {
    ...started,
    async readProcessorMs() {
      const answer = receive();
      worker.postMessage('read', []);
      return Parse(Type.Number(), await answer);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(worker, 'exit');
      worker.postMessage('stop', []);
      // A held event loop does not read the message.
      await Promise.race([ended, sleep(STOP_TIMEOUT_MS, null, { ref: false })]);
      await worker.terminate();
    },
  };
}
