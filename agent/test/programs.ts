import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of shell scripts that replace programs. */
export interface Programs extends Disposable {
  readonly searchPath: string;
  readonly directory: string;
  /** Writes a shell script that logs its process id and arguments at each start. */
  write(name: string, script: string): void;
  /** Returns the process ids of all starts, oldest first. */
  pids(): number[];
  /** Returns the arguments of all starts, oldest first. */
  starts(): string[];
}

export function emptyPrograms(): Programs {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-programs-'));
  const log = join(directory, 'starts');
  /** Returns complete lines only: the shell creates the file before it writes. */
  const starts = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []);
  return {
    searchPath: directory,
    directory,
    write(name, script) {
      const path = join(directory, name);
      const logStart = `echo "$$ $*" >> '${log}'`;
      writeFileSync(path, `#!/bin/sh\ncd '${directory}'\n${logStart}\n${script}\n`);
      chmodSync(path, 0o755);
    },
    pids: () => starts().map((line) => Number.parseInt(line, 10)),
    starts: () => starts().map((line) => line.slice(line.indexOf(' ') + 1)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Whether a process runs or is a zombie. */
export function processExists(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Returns a recorded output of a program, from `fixtures/outputs`. */
export function readOutput(name: string): Buffer {
  return readFileSync(new URL(`fixtures/outputs/${name}`, import.meta.url));
}
