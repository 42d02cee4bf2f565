import type { Day } from '../rules/days.ts';
import type { EventFile } from './read-file.ts';

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
   * Stores the file of a day, all of it or nothing, and replaces an existing one.
   * @param write writes a new file to a path
   * @param verify reads what was written, before it gets its name where the archive can rename
   * @throws ArchiveError for an archive that cannot be written
   */
  store(
    day: Day,
    write: (path: string) => Promise<void>,
    verify: (file: EventFile) => Promise<void>,
  ): Promise<void>;
}

/** The part of a file's path after the location: a partition by day, as DuckDB and Athena read it. */
export function pathOf(day: Day): string {
  return `events/day=${day}/events.parquet`;
}
