/**
 * Preloaded (`node --import`) by `runWithNode24`: ends this process when the processes that started it are gone.
 * A killed npm or wrapper closes no pipe of its child, so this watches process ids.
 */
import { readFileSync } from 'node:fs';

/** The variable with the lineage that the starter saw. */
export const LINEAGE_VARIABLE = 'LATCHKEY_LINEAGE';

const CHECK_INTERVAL_MS = 500;
const SHELLS = new Set(['sh', 'dash', 'bash', 'ash', 'busybox', 'zsh', 'ksh']);

/**
 * The process ids of this process's parent and, where that is a shell in between, of the shell's own parent: npm starts
 * scripts through `sh -c`, and some shells stay (dash), even after the end of npm, while others replace themselves (bash).
 */
export function readLineage() {
  const grandparent = findParentOfShell(process.ppid);
  return grandparent === null ? String(process.ppid) : `${process.ppid},${grandparent}`;
}

function findParentOfShell(pid) {
  // On other systems, the usual shells replace themselves.
  if (process.platform !== 'linux') return null;
  try {
    // proc(5): pid (command) state parent …
    const [, command, parent] = /\((.*)\) \S (\d+)/s.exec(
      readFileSync(`/proc/${pid}/stat`, 'utf8'),
    );
    return SHELLS.has(command) ? parent : null;
  } catch {
    // It has ended, or /proc is hidden: only the parent's id is known.
    return null;
  }
}

/**
 * Calls back once when this process no longer has the lineage that it had.
 * @param {string} lineage
 * @param {() => void} onGone
 */
export function watchLineage(lineage, onGone) {
  const timer = setInterval(() => {
    if (readLineage() === lineage) return;
    clearInterval(timer);
    onGone();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

const lineage = process.env[LINEAGE_VARIABLE];
// Removed, so that workers and children do not inherit it.
delete process.env[LINEAGE_VARIABLE];
if (lineage !== undefined) watchLineage(lineage, () => process.kill(process.pid, 'SIGTERM'));
