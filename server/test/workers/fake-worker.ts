import { Channel } from '#server/workers/channel.ts';
import { EarlyEnd, type ProcessEnd, type WorkerProcess } from '#server/workers/worker-process.ts';

export const WORKER_URL = 'http://127.0.0.1:8080';

export const SILENT_LOG = { info: () => {}, warn: () => {}, error: () => {} };

/** A worker without a process. The test makes it listen, lose a connection and end; it also ends when it is asked to stop or to retire. */
export interface FakeWorker extends WorkerProcess {
  isMigrating: boolean;
  listen(): void;
  loseConnection(): void;
  stopReading(): void;
  end(end: ProcessEnd): void;
}

export function createFakeWorker(number: number): FakeWorker {
  const ended = Promise.withResolvers<ProcessEnd>();
  const ready = Promise.withResolvers<string>();
  const lost = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  const end = (how: ProcessEnd): void => {
    ended.resolve(how);
    channel.close();
    ready.reject(new EarlyEnd(how));
  };
  const channel = new Channel((message) => {
    if (/"latchkey":"(?:stop|retire)"/u.test(JSON.stringify(message)))
      end({ code: 0, signal: null });
  }, {});
  const process = { number, pid: number, channel, ready: ready.promise, ended: ended.promise };
  return {
    ...process,
    lostConnection: lost.promise,
    stoppedReading: stopped.promise,
    stopReading: () => stopped.resolve(),
    isMigrating: false,
    kill: () => {},
    listen: () => ready.resolve(WORKER_URL),
    loseConnection: () => lost.resolve(),
    end,
  };
}
