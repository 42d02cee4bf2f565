import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Roots, rootsBelow } from '#agent/roots.ts';

/** A machine made of files, which a test may change while a collector looks at it. */
export interface Machine extends Disposable {
  readonly roots: Roots;
  /** Writes a file as the kernel would show it from now on; the path begins with `proc/` or `sys/`. */
  write(path: string, text: string): void;
  remove(path: string): void;
}

const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));

/** A copy of one of the machines in `fixtures`. */
export function copyMachine(name: string): Machine {
  const machine = emptyMachine();
  cpSync(join(fixtures, name), dirname(machine.roots.proc), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return machine;
}

/** A machine without any files: it lacks everything. */
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
