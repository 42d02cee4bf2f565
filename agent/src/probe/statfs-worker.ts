import { statfsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** A statfs worker: it may block for ever in the kernel. */
export interface StatfsWorker {
  /** Runs statfs on a mount point; one at a time. */
  request(mountPoint: string): void;
  stop(): void;
}

/**
 * JavaScript in a string: a module would load the TypeScript compiler into the worker (20 MB) and be another file of the
 * package. The answer to any error is null.
 */
const PROGRAM = `
const { statfsSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
parentPort.on('message', (mountPoint) => {
  let space = null;
  try {
    space = { ...statfsSync(mountPoint) };
  } catch {}
  parentPort.postMessage(space);
});`;

const LIMITS = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };

/**
 * Starts a worker, which costs 9 MB and does not keep the process alive.
 * @param answer called once for each mount point; null when statfs failed
 */
export function startStatfsWorker(answer: (space: Space | null) => void): StatfsWorker {
  const worker = new Worker(PROGRAM, { eval: true, resourceLimits: LIMITS });
  worker.on('message', answer);
  worker.on('error', () => answer(null));
  worker.unref();
  return {
    // The rule is about browser windows: a worker has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    request: (mountPoint) => worker.postMessage(mountPoint),
    stop: () => void worker.terminate(),
  };
}

/** The result of statfs(2), in blocks of `frsize` bytes and in inodes. */
export interface Space {
  readonly frsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
}

/** Runs statfs on the calling thread; null when it fails. It blocks for as long as the filesystem does. */
export function readSpace(mountPoint: string): Space | null {
  try {
    return statfsSync(mountPoint);
  } catch {
    // A damaged filesystem must not hide the others.
    return null;
  }
}
