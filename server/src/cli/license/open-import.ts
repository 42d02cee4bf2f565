/** Opens the file of an import. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

import {
  ImportFileError,
  readRecords,
  type ImportFormat,
  type SourceRecord,
} from '#server/features/licenses/import-file.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import { commandProcess } from '../command-process.ts';
import { failed, usageError } from '../command-error.ts';

/** Returns the format by the name of a file. @throws CommandError for another name */
export function guessFormat(path: string): ImportFormat {
  if (/\.csv$/iu.test(path)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/iu.test(path)) return 'jsonl';
  throw usageError('Set --format to csv or jsonl.');
}

/**
 * Reads the records of a file, or of standard input for `-`, as a stream.
 * @throws CommandError for a file that does not exist, or whose header or quoting is invalid
 */
export async function* readRecordsOf(
  path: string,
  format: ImportFormat,
): AsyncGenerator<SourceRecord> {
  try {
    yield* readRecords(openSource(path), format);
  } catch (error) {
    if (error instanceof ImportFileError) throw failed(error.message);
    if (hasCode(error, 'ENOENT')) {
      throw failed('The file does not exist.', { cause: error });
    }
    throw error;
  }
}

function openSource(path: string): Readable {
  const stream = path === '-' ? commandProcess().stdin : createReadStream(path);
  return stream.setEncoding('utf8');
}
