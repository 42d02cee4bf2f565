import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A directory with programs that a test wrote. */
export interface Programs extends Disposable {
  readonly searchPath: string;
  readonly directory: string;
  /** Writes a shell script; each start of it notes its process id and its arguments. */
  write(name: string, script: string): void;
  /** The process ids of those that were started, the oldest first. */
  pids(): number[];
  /** The arguments of each start. */
  starts(): string[];
}

export function emptyPrograms(): Programs {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-programs-'));
  const log = join(directory, 'starts');
  /** Whole lines: the file is there before its first one. */
  const starts = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []);
  return {
    searchPath: directory,
    directory,
    write(name, script) {
      const path = join(directory, name);
      const note = `echo "$$ $*" >> '${log}'`;
      writeFileSync(path, `#!/bin/sh\ncd '${directory}'\n${note}\n${script}\n`);
      chmodSync(path, 0o755);
    },
    pids: () => starts().map((line) => Number.parseInt(line, 10)),
    starts: () => starts().map((line) => line.slice(line.indexOf(' ') + 1)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Whether a process is there, as one that runs or as a zombie. */
export function processExists(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Asks again and again until the answer is something; fails after ten seconds. */
export async function waitFor<T>(ask: () => T | null | false | undefined): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const answer = ask();
    if (answer !== null && answer !== false && answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error('Nothing came in ten seconds.');
    await sleep(5);
  }
}
