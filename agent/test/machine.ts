import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Roots, rootsBelow } from '#agent/roots.ts';

/** A machine made of files, which a test may change between readings. */
export interface Machine extends Disposable {
  readonly roots: Roots;
  /** Writes a file; the path begins with `proc/`, `sys/` and the like. */
  write(path: string, text: string): void;
  remove(path: string): void;
}

const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));

/** Copies one of the machines in `fixtures`. */
export function copyMachine(name: string): Machine {
  const machine = emptyMachine();
  cpSync(join(fixtures, name), dirname(machine.roots.proc), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return machine;
}

/** Creates a machine without any files. */
export function emptyMachine(): Machine {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-'));
  return {
    roots: rootsBelow(directory),
    write(path, text) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    },
    remove: (path) => rmSync(join(directory, path), { recursive: true }),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
