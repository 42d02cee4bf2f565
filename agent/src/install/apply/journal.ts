import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { syncPath, writeFile } from '../../system/write-file.ts';
import { INSTALLED_FILE } from '../installed.ts';
import { paths } from '../paths.ts';
import { type Action, formatLine, type Line, parseJournal } from './journal-lines.ts';
import { locate, type Machine } from './machine.ts';
import { Backups } from './path-state.ts';
import { type Entry, type JournalFacts, nameEntry } from './journal-entry.ts';

/** A change of an unfinished run. */
export interface Change {
  readonly action: Action;
  readonly entry: Entry;
}

/**
 * The changes that installations made to this machine. A line is synced to disk before its change begins, so that a later run
 * can undo it after a crash.
 */
export class Journal {
  readonly backups: Backups;
  readonly #machine: Machine;
  readonly #directory: string;
  readonly #path: string;
  readonly #installedPath: string;
  #lines: readonly Line[];

  /** @throws Error when the journal is damaged */
  constructor(machine: Machine) {
    this.#machine = machine;
    this.#directory = locate(machine, paths.journal);
    this.#path = join(this.#directory, 'journal.jsonl');
    this.#installedPath = join(this.#directory, INSTALLED_FILE);
    this.backups = new Backups(join(this.#directory, 'backup'), machine.ownerId);
    this.#lines = existsSync(this.#path)
      ? parseJournal(readFileSync(this.#path, 'utf8'), this.#path)
      : [];
  }

  /** The steps of completed installations that are not undone, in the order in which they were applied. */
  get done(): Entry[] {
    const undone = new Set(
      this.#lines.flatMap((each) => (each.line === 'undone' ? [each.name] : [])),
    );
    return this.#lines.flatMap((each) =>
      each.line === 'done' && !undone.has(nameEntry(each.entry)) ? [each.entry] : [],
    );
  }

  /** The changes of an unfinished run in order; null when every run is finished. */
  get unfinished(): Change[] | null {
    const start = this.#lines.findIndex(({ line }) => line === 'begin');
    if (start === -1) return null;
    const changes: Change[] = [];
    for (const each of this.#lines.slice(start)) {
      if (each.line === 'before') changes.push({ action: each.action, entry: each.entry });
      const last = changes.at(-1);
      if (each.line === 'after' && last !== undefined) {
        changes[changes.length - 1] = { ...last, entry: { ...last.entry, after: each.after } };
      }
    }
    return changes;
  }

  begin(): void {
    this.#append({ line: 'begin', installed: this.#readInstalled() });
  }

  recordBefore(change: Change): void {
    this.#append({ line: 'before', ...change });
  }

  recordAfter(after: JournalFacts): void {
    this.#append({ line: 'after', after });
  }

  recordUndone(entry: Entry): void {
    this.#append({ line: 'undone', name: nameEntry(entry) });
  }

  /** Completes a run: stores its entries and the register. */
  finish(done: readonly Entry[], installed: string | null): void {
    this.#writeInstalled(installed);
    this.#rewrite(done);
  }

  /** Completes an undone run: restores the register. */
  abandon(): void {
    const begin = this.#lines.find((each) => each.line === 'begin');
    if (begin !== undefined) this.#writeInstalled(begin.installed);
    this.#rewrite(this.done);
  }

  /** Removes the register, and keeps the entries that are not undone. */
  removeInstalled(): void {
    this.#writeInstalled(null);
    this.#rewrite(this.done);
  }

  /** Removes a journal without entries. */
  tidy(): void {
    this.#rewrite(this.done);
  }

  #remove(): void {
    // The journal first: without it nothing refers to the rest.
    rmSync(this.#path, { force: true });
    rmSync(this.#directory, { recursive: true, force: true });
    this.#lines = [];
  }

  #rewrite(done: readonly Entry[]): void {
    if (done.length === 0) return this.#remove();
    const isUnchanged = done.length === this.#lines.length;
    if (isUnchanged && this.#lines.every(({ line }) => line === 'done')) return;
    const lines = done.map((entry) => ({ line: 'done' as const, entry }));
    this.#write(this.#path, lines.map(formatLine).join(''));
    this.#lines = lines;
    this.backups.prune(new Set(done.flatMap(listBackups)));
  }

  #append(line: Line): void {
    const isNew = !existsSync(this.#path);
    this.#createDirectory();
    if (!isNew) this.#cutTornLine();
    const file = openSync(this.#path, 'a', 0o600);
    try {
      // writeFileSync, because one write may store only a part on a disk that is nearly full.
      writeFileSync(file, formatLine(line));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncPath(this.#directory);
    this.#lines = [...this.#lines, line];
  }

  /** Truncates a torn line, which must not become the start of the next one. */
  #cutTornLine(): void {
    const bytes = readFileSync(this.#path);
    const end = bytes.lastIndexOf('\n') + 1;
    if (end < bytes.length) truncateSync(this.#path, end);
  }

  #readInstalled(): string | null {
    return existsSync(this.#installedPath) ? readFileSync(this.#installedPath, 'utf8') : null;
  }

  #writeInstalled(text: string | null): void {
    if (text === this.#readInstalled()) return;
    if (text === null) rmSync(this.#installedPath);
    else this.#write(this.#installedPath, text);
  }

  #write(path: string, text: string): void {
    this.#createDirectory();
    const { ownerId } = this.#machine;
    writeFile(path, text, { mode: 0o600, uid: ownerId, gid: ownerId });
  }

  #createDirectory(): void {
    if (existsSync(this.#directory)) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    syncPath(dirname(this.#directory));
  }
}

function listBackups({ before }: Entry): string[] {
  return before.paths.flatMap((state) => (state.type === 'file' ? [state.backup] : []));
}
