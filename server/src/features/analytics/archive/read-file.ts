import {
  parquetMetadataAsync,
  parquetScan,
  type AsyncBuffer,
  type FileMetaData,
  type ParquetRowRange,
  type ParquetScan,
  type RowGroup,
} from 'hyparquet';

import type { TextRow } from '#server/db/hot-statement.ts';

import { ArchiveError, DamagedFileError } from './archive-error.ts';
import { COLUMN_NAMES, decompressors } from './event-columns.ts';
import { RowChecksum, type DaySummary } from '../rules/row-checksum.ts';

/** A Parquet file, and its name for messages. */
export interface EventFile extends AsyncBuffer {
  readonly name: string;
  /** Differs after another program has written the file. */
  readonly version: string;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): Promise<void>;
}

/** Reads a file and closes it; returns its number of events and their checksum. */
export async function summarizeFile(
  file: EventFile,
  onRows: (events: number) => void,
): Promise<DaySummary> {
  const checksum = new RowChecksum();
  try {
    for await (const rows of readEventFile(file)) {
      checksum.add(rows);
      onRows(checksum.summarize().events);
    }
  } finally {
    await file.close();
  }
  return checksum.summarize();
}

/**
 * Yields the events of a file by row group, in the form in which they were written.
 * @throws DamagedFileError for a file that is damaged, or was not written by Latchkey; ArchiveError for one that cannot be read
 */
export async function* readEventFile(
  file: EventFile,
): AsyncGenerator<readonly TextRow[], void, undefined> {
  const metadata = await readMetadata(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    yield await readGroup(file, { metadata, group, rowStart, rowEnd });
    rowStart = rowEnd;
  }
}

interface Group extends ParquetRowRange {
  readonly metadata: FileMetaData;
  readonly group: RowGroup;
}

async function readGroup(file: EventFile, part: Group): Promise<readonly TextRow[]> {
  const { group, metadata, ...range } = part;
  try {
    const scan = await parquetScan({
      file: await loadGroup(file, group),
      metadata,
      useOffsetIndex: false,
      compressors: decompressors,
      parsers,
    });
    return await readRows(scan, range);
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    throw new DamagedFileError(`${file.name} is damaged.`, { cause: error });
  }
}

async function readRows(
  scan: ParquetScan,
  { rowStart, rowEnd }: ParquetRowRange,
): Promise<readonly TextRow[]> {
  const columns: (readonly unknown[])[] = [];
  for (const column of COLUMN_NAMES) {
    columns.push(Array.from(await scan.readColumn({ column, rowStart, rowEnd })));
  }
  return Array.from({ length: rowEnd - rowStart }, (_, row) =>
    columns.map((column) => toText(column[row])),
  );
}

async function readMetadata(file: EventFile): Promise<FileMetaData> {
  const metadata = await readFooter(file);
  // Without the root, which has another name in a file that was written again by another program.
  const [, ...columns] = metadata.schema;
  if (columns.map(({ name }) => name).join(' ') === COLUMN_NAMES.join(' ')) return metadata;
  throw new DamagedFileError(`${file.name} is not a file of archived events: its columns differ.`);
}

async function readFooter(file: EventFile): Promise<FileMetaData> {
  try {
    return await parquetMetadataAsync(file);
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    throw new DamagedFileError(`${file.name} is not a complete Parquet file.`, { cause: error });
  }
}

/** Reads a row group at once: ten columns would be ten requests to an object storage. */
async function loadGroup(file: EventFile, { columns }: RowGroup): Promise<AsyncBuffer> {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { meta_data: column } of columns) {
    const start = Number(column?.dictionary_page_offset ?? column?.data_page_offset ?? 0);
    starts.push(start);
    ends.push(start + Number(column?.total_compressed_size ?? 0));
  }
  const from = Math.min(...starts);
  const bytes = await file.slice(from, Math.max(...ends));
  return {
    byteLength: file.byteLength,
    slice: (start, end = file.byteLength) => bytes.slice(start - from, end - from),
  };
}

const decoder = new TextDecoder();

const parsers = {
  timestampFromMicroseconds: (time: bigint) => time,
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
  uuidFromBytes: (bytes: Uint8Array | undefined) => bytes && formatUuid(bytes),
};

function formatUuid(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  throw new TypeError(`a ${typeof value} in a column of texts`);
}
