import { statfsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Somebody who can be sent to a filesystem and may never come back. */
export interface MountThread {
  /** Asks one filesystem; one question at a time. */
  ask(mountPoint: string): void;
  stop(): void;
}

/**
 * Plain JavaScript in a string: a file of its own would load the compiler of types into the thread, 20 MB, and be one
 * more file to pack. Any error means that the filesystem cannot say.
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
 * Starts a thread, which costs 9 MB, and does not keep the process alive.
 * @param answer is called once for each question; null when the filesystem cannot say
 */
export function startMountThread(answer: (space: Space | null) => void): MountThread {
  const worker = new Worker(PROGRAM, { eval: true, resourceLimits: LIMITS });
  worker.on('message', answer);
  worker.on('error', () => answer(null));
  worker.unref();
  return {
    // The rule means windows of browsers: a thread has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    ask: (mountPoint) => worker.postMessage(mountPoint),
    stop: () => void worker.terminate(),
  };
}

/** What statfs(2) says, in blocks of `frsize` bytes and in inodes. */
export interface Space {
  readonly frsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
}

/** Asks a filesystem for its space; null when it cannot say, whatever the reason. It waits as long as the filesystem does. */
export function askSpace(mountPoint: string): Space | null {
  try {
    return statfsSync(mountPoint);
  } catch {
    // One that is damaged must not cost the others.
    return null;
  }
}
