import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';

import { codeOf, hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { BackupError } from './backup-error.ts';
import {
  END_PREFIX,
  FORMAT,
  HEADER_PREFIX,
  LineHash,
  parseCopy,
  parseEnd,
  parseHeader,
  parseRows,
  type BackupHeader,
} from './format.ts';
import { RowReader } from './row-reader.ts';

/** The rows of a table in a backup. */
export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  /** The rows in blocks, to be read once and to the end. @throws BackupError after them, if they were altered */
  readonly blocks: AsyncIterable<Buffer>;
}

/** A backup that is open for reading. */
export interface OpenBackup extends AsyncDisposable {
  readonly header: BackupHeader;
  /**
   * The tables, each of which must be read before the next.
   * @throws BackupError for a file that is not complete or was altered, at the end at the latest
   */
  tables(): AsyncGenerator<TableRows>;
}

const BLOCK_BYTES = 256 * 1024;

/**
 * Opens a backup and reads its header.
 * @throws BackupError when there is none, or it is of a newer format
 */
export async function openBackup(path: string): Promise<OpenBackup> {
  const file = createReadStream(path, { highWaterMark: BLOCK_BYTES });
  const text = createZstdDecompress({ chunkSize: BLOCK_BYTES });
  const piped = pipeline(file, text);
  // The reader of the text gets the same error.
  piped.catch(() => {});
  const close = async (): Promise<void> => {
    text.destroy();
    file.destroy();
  };
  return readBackup(path, text, close);
}

/**
 * Reads the header of a backup whose text comes from somewhere else than a file.
 * @param name of the source, in errors
 * @param close is called by disposing
 * @throws BackupError as {@link openBackup} does
 */
export async function readBackup(
  name: string,
  text: AsyncIterable<Buffer>,
  close: () => Promise<void>,
): Promise<OpenBackup> {
  try {
    const lines = new RowReader(text);
    const hash = new LineHash();
    const header = await readHeader(name, lines, hash);
    const tables = () => readTables(name, { lines, hash });
    return { header, tables, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readHeader(path: string, lines: RowReader, hash: LineHash): Promise<BackupHeader> {
  const line = await readFirstLine(path, lines);
  const format = readFormat(line);
  if (format > FORMAT) {
    throw new BackupError(
      `${path} has format ${format}, and this version reads formats up to ${FORMAT}: restore it with the version that wrote it, or a newer one.`,
    );
  }
  hash.add(line);
  return explained(path, async () => parseHeader(line));
}

async function readFirstLine(path: string, lines: RowReader): Promise<string> {
  const line = await explained(path, () => lines.readLine());
  if (line?.startsWith(HEADER_PREFIX) === true) return line;
  throw isNoBackup(path);
}

function isNoBackup(path: string, cause?: unknown): BackupError {
  return new BackupError(`${path} is no backup of Latchkey.`, { cause });
}

function readFormat(line: string): number {
  return Number(/^\{"format":(\d{1,9})[,}]/u.exec(line.slice(HEADER_PREFIX.length))?.[1] ?? FORMAT);
}

interface Lines {
  readonly lines: RowReader;
  readonly hash: LineHash;
}

async function* readTables(path: string, reading: Lines): AsyncGenerator<TableRows> {
  const total = { tables: 0, rows: 0 };
  for (;;) {
    const line = await explained(path, () => nextLine(reading));
    if (line.startsWith(END_PREFIX)) return explained(path, () => checkEnd(line, total, reading));
    reading.hash.add(line);
    const { table, columns } = await explained(path, async () => parseCopy(line));
    const counted = { rows: 0 };
    yield { table, columns, blocks: readRows(path, reading, { table, counted }) };
    total.tables += 1;
    total.rows += counted.rows;
  }
}

async function nextLine({ lines }: Lines): Promise<string> {
  const line = await lines.readLine();
  if (line === null) throw new Error('it ends too early');
  return line;
}

async function* readRows(
  path: string,
  reading: Lines,
  { table, counted }: { table: string; counted: { rows: number } },
): AsyncGenerator<Buffer> {
  const sha256 = createHash('sha256');
  for (;;) {
    const block = await explained(path, () => reading.lines.readRows());
    if (block === null) break;
    sha256.update(block);
    yield block;
  }
  await explained(path, async () => {
    const line = await nextLine(reading);
    const expected = parseRows(line);
    if (expected.sha256 !== sha256.digest('hex'))
      throw new Error(`the rows of ${table} were altered`);
    reading.hash.add(line);
    counted.rows = expected.rows;
  });
}

/** Also reads to the end of the file, so that the checksum of the compression is verified. */
async function checkEnd(
  line: string,
  total: { readonly tables: number; readonly rows: number },
  { lines, hash }: Lines,
): Promise<void> {
  const expected = parseEnd(line);
  const isSame =
    expected.sha256 === hash.digest() &&
    expected.tables === total.tables &&
    expected.rows === total.rows;
  if (!isSame) throw new Error('its lines were altered');
  if ((await lines.readLine()) !== null) throw new Error('lines follow its end');
}

async function explained<Result>(path: string, reading: () => Promise<Result>): Promise<Result> {
  try {
    return await reading();
  } catch (error) {
    if (error instanceof BackupError) throw error;
    if (isSystemError(error)) throw cannotBeRead(path, error);
    // The file does not begin as a compressed one does.
    if (hasCode(error, 'ZSTD_error_prefix_unknown')) throw isNoBackup(path, error);
    const message = `${path} is damaged (${messageOf(error)}): use another backup.`;
    throw new BackupError(message, { cause: error });
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function cannotBeRead(path: string, error: unknown): BackupError {
  const isMissing = codeOf(error) === 'ENOENT';
  const message = isMissing
    ? `There is no file ${path}.`
    : `${path} cannot be read (${codeOf(error) ?? messageOf(error)}).`;
  return new BackupError(message, { cause: error });
}
