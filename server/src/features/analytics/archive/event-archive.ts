import type { FileHandle } from 'node:fs/promises';

import type { Day } from '../rules/days.ts';
import { DayError } from './archive-error.ts';
import type { EventFile } from './read-file.ts';

/** The steps that create the file of a day. */
export interface StoreSteps {
  /** The version of the file to replace; null: the day has no file. */
  readonly replaces: string | null;
  /** Writes the content of a new file. */
  readonly write: (file: FileHandle) => Promise<void>;
  /** Reads what was written, before it gets its name where the archive can rename. */
  readonly verify: (file: EventFile) => Promise<void>;
}

/** Where the files of archived days are: a directory, or a bucket of an object storage. */
export interface EventArchive {
  /** The absolute path of the directory, or s3://bucket/prefix. */
  readonly location: string;
  /** The name of a day's file, for people. */
  nameOf(day: Day): string;
  /** Returns the days that have a file, oldest first. @throws ArchiveError for an archive that cannot be read */
  listDays(): Promise<readonly Day[]>;
  /** Opens the file of a day; null: there is none. */
  open(day: Day): Promise<EventFile | null>;
  /**
   * Stores the file of a day, all of it or nothing. A file of another version than `replaces` is not overwritten.
   * @returns the version of the new file
   * @throws ArchiveError for an archive that cannot be written, DayError when another program has written the file
   */
  store(day: Day, steps: StoreSteps): Promise<string>;
  /** Flushes the file of a day and its name to the disk, so that they survive a power failure. */
  flush(day: Day): Promise<void>;
  /** Returns the version of a day's file, which differs after any other program has written it; null: there is no file. */
  findVersion(day: Day): Promise<string | null>;
  /** Removes incomplete files of killed processes. Call it while no other process uses the archive. */
  removeLeftovers(): Promise<void>;
}

/** The part of a file's path after the location: a partition by day, as DuckDB and Athena read it. */
export function pathOf(day: Day): string {
  return `events/day=${day}/events.parquet`;
}

/** Returns the error for a file that another program has written or removed. */
export function changedByAnother(name: string): DayError {
  return new DayError(
    `${name} was changed by another program at the same time: use one directory or prefix for each database, and run the command again.`,
  );
}
