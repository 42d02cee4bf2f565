import cluster, { type Worker } from 'node:cluster';

import { isRecord, messageOf } from '#server/lib/unknown-values.ts';

import { Channel, type Handlers } from './channel.ts';
import { createMessageSender } from './message-sender.ts';
import { ASSIGNMENT_VARIABLE, renderAssignment, type WorkerAssignment } from './assignment.ts';

/** How a process ended: one of both is null, or both when it could not be started. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly error?: string;
}

/** A worker, as the supervisor knows it. */
export interface WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly channel: Channel;
  /** Resolves to the worker's URL when it listens; rejects when it ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<ProcessEnd>;
  /**
   * Resolves when the worker could not take a connection, because it had no file descriptor left. Node's cluster then waits for
   * its confirmation, and passes it no further connection.
   */
  readonly lostConnection: Promise<void>;
  /** Resolves when the worker requests more than it reads; it receives no message any more. */
  readonly stoppedReading: Promise<void>;
  /** Whether it migrates the database, or waits for another process that does. */
  readonly isMigrating: boolean;
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

/** Returns the exit code, the signal or the error as text. */
export function describeEnd({ code, signal, error }: ProcessEnd): string {
  return error ?? signal ?? `exit code ${code}`;
}

/**
 * Starts a worker. `cluster.setupPrimary` must have been called. A process that the system cannot start is a worker that has
 * ended.
 * @param handlers answer the worker's requests
 */
export function launchWorker(assignment: WorkerAssignment, handlers: Handlers): WorkerProcess {
  const ready = Promise.withResolvers<string>();
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<ProcessEnd>();
  const worker = fork(assignment, onEnd);
  let isMigrating = false;
  const { send, stoppedReading } = createMessageSender(worker);
  const channel = new Channel(send, {
    ...handlers,
    ready: (url) => ready.resolve(String(url)),
    migrating: (payload) => void (isMigrating = payload === true),
  });
  worker?.on('message', (message: unknown) => channel.receive(message));
  void rejectAtEnd();
  ready.promise.catch(() => {});
  async function rejectAtEnd(): Promise<void> {
    const early = new EarlyEnd(await ended);
    channel.close();
    ready.reject(early);
  }

  return {
    number: assignment.number,
    pid: worker?.process.pid ?? 0,
    channel,
    ready: ready.promise,
    ended,
    lostConnection: waitForLostConnection(worker),
    stoppedReading,
    get isMigrating() {
      return isMigrating;
    },
    kill: (signal) => void worker?.process.kill(signal),
  };
}

/** Returns null, after a call of `onEnd`, when Node refuses to start the process. */
function fork(assignment: WorkerAssignment, onEnd: (end: ProcessEnd) => void): Worker | null {
  const onFailure = (error: unknown): void =>
    onEnd({ code: null, signal: null, error: messageOf(error) });
  try {
    const worker = cluster.fork({ [ASSIGNMENT_VARIABLE]: renderAssignment(assignment) });
    worker.once('exit', (code: number | null, signal: string | null) => onEnd({ code, signal }));
    worker.on('error', (error) => {
      // A process that the system did not start reports no exit. Other errors are of the channel: a worker that ended does not
      // receive the message.
      if (worker.process.pid === undefined) onFailure(error);
    });
    return worker;
  } catch (error) {
    onFailure(error);
    return null;
  }
}

/** A worker answers so to a connection that did not arrive (`lib/internal/child_process.js` of Node); there is no public event. */
const LOST_HANDLE = 'NODE_HANDLE_NACK';

function waitForLostConnection(worker: Worker | null): Promise<void> {
  return new Promise((resolve) => {
    worker?.process.on('internalMessage', (message: unknown) => {
      if (isRecord(message) && message['cmd'] === LOST_HANDLE) resolve();
    });
  });
}
