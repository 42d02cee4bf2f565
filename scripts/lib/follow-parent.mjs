/**
 * Preloaded (`node --import`) by `runWithNode24`: ends this process when the ones that started it are gone.
 * A killed npm or wrapper closes nothing that its child would notice, so the process ids are watched instead.
 */
import { readFileSync } from 'node:fs';

/** Holds the lineage as the starter saw it. */
export const LINEAGE_VARIABLE = 'LATCHKEY_LINEAGE';

const CHECK_INTERVAL_MS = 500;
const SHELLS = new Set(['sh', 'dash', 'bash', 'ash', 'busybox', 'zsh', 'ksh']);

/**
 * The process ids of this process's parent and, where that is a shell in between, of the shell's own parent: npm starts
 * scripts through `sh -c`, and some shells stay (dash), deaf to what happens to npm, while others make way (bash).
 */
export function readLineage() {
  const grandparent = findParentOfShell(process.ppid);
  return grandparent === null ? String(process.ppid) : `${process.ppid},${grandparent}`;
}

function findParentOfShell(pid) {
  // On other systems the usual shells make way.
  if (process.platform !== 'linux') return null;
  try {
    // proc(5): pid (command) state parent …
    const [, command, parent] = /\((.*)\) \S (\d+)/s.exec(
      readFileSync(`/proc/${pid}/stat`, 'utf8'),
    );
    return SHELLS.has(command) ? parent : null;
  } catch {
    // It ended just now, or /proc is hidden: what is left is the parent's id.
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
// Removed, so that neither workers nor children take it for their own.
delete process.env[LINEAGE_VARIABLE];
if (lineage !== undefined) watchLineage(lineage, () => process.kill(process.pid, 'SIGTERM'));
