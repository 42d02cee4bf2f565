import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** No installation takes this long: an older lock is stale, even if a process has its id. */
const STALE_AFTER_MS = 15 * 60_000;

/**
 * Runs `work` while no other process of this machine holds the same lock file; waits for the lock.
 * @param {string} file
 * @param {() => void} onWait called once when another process holds the lock
 * @param {() => Promise<void>} work
 */
export async function withInstallLock(file, onWait, work) {
  for (let waits = 0; !tryLock(file); waits += 1) {
    if (isStale(file)) rmSync(file, { force: true });
    else if (waits === 0) onWait();
    else await sleep(200);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isStale(file) {
  try {
    const age = Date.now() - statSync(file).mtimeMs;
    const holder = Number(readFileSync(file, 'utf8'));
    // It is empty until its holder has written it.
    if (holder === 0) return age > 1_000;
    return age > STALE_AFTER_MS || !isRunning(holder);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
