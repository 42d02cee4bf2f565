import { statSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_MAY_ENTER = 0o001;

/** Why `serve --workers` cannot run here; false: it can. Workers load the program after root was dropped. */
export const lacksWorkers =
  process.getuid?.() === 0 && !parentsOf(import.meta.filename).every(isOpen)
    ? 'needs a repository that other accounts can read, because root starts it'
    : false;

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

function isOpen(directory: string): boolean {
  return (statSync(directory).mode & OTHERS_MAY_ENTER) !== 0;
}
