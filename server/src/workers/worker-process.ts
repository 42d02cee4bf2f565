import cluster, { type Worker } from 'node:cluster';

import { Channel, type Handlers } from './channel.ts';
import { PLACE_VARIABLE, renderPlace, type WorkerPlace } from './place.ts';

/** How a process ended; one of both is null. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker, as the supervisor knows it. */
export interface WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly channel: Channel;
  /** Resolves to the worker's URL when it listens; rejects when it ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<ProcessEnd>;
  kill(signal: NodeJS.Signals): void;
}

/** A worker that ended before it listened. */
export class EarlyEnd extends Error {
  readonly end: ProcessEnd;

  constructor(end: ProcessEnd) {
    super(`a worker ended at its start (${describeEnd(end)})`);
    this.name = 'EarlyEnd';
    this.end = end;
  }
}

/** Returns the exit code or the signal as text. */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `exit code ${code}`;
}

/**
 * Starts a worker. `cluster.setupPrimary` must have been called.
 * @param handlers answer the worker's requests
 */
export function launchWorker(place: WorkerPlace, handlers: Handlers): WorkerProcess {
  const worker = cluster.fork({ [PLACE_VARIABLE]: renderPlace(place) });
  const ready = Promise.withResolvers<string>();
  const channel = new Channel((message) => sendTo(worker, message), {
    ...handlers,
    ready: (url) => ready.resolve(String(url)),
  });
  worker.on('message', (message: unknown) => channel.receive(message));
  // Of the channel: a worker that ended does not receive the message.
  worker.on('error', () => {});
  const ended = new Promise<ProcessEnd>((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
  });
  void rejectAtEnd();
  ready.promise.catch(() => {});
  async function rejectAtEnd(): Promise<void> {
    const end = await ended;
    channel.close();
    ready.reject(new EarlyEnd(end));
  }

  const { pid = 0 } = worker.process;
  const kill = (signal: NodeJS.Signals): void => void worker.process.kill(signal);
  return { number: place.number, pid, channel, ready: ready.promise, ended, kill };
}

function sendTo(worker: Worker, message: object): void {
  if (!worker.isConnected()) return;
  // With a callback, a closed channel is no error event.
  worker.process.send?.(message, undefined, undefined, () => {});
}
