/** Opens the rows of an import: from files. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

import type { ForeignRow } from '#server/features/imports/facts.ts';
import { ImportFileError } from '#server/features/imports/files/import-file-error.ts';
import {
  isReadOnce,
  readFile,
  type FileSource,
  type OpenFile,
} from '#server/features/imports/files/read-file.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import { failed, usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';

export interface FileOptions {
  readonly source: FileSource;
  /** `-` is standard input. */
  readonly path: string;
  readonly related: readonly string[];
  readonly columns: readonly (readonly [string, string])[];
}

/**
 * Reads the licenses of a file as a stream.
 * @throws CommandError for a file that does not exist or cannot be read
 */
export async function* openFileRows(options: FileOptions): AsyncGenerator<ForeignRow> {
  const { source, path, related, columns } = options;
  if (path === '-' && !isReadOnce(source)) {
    throw usageError('The file is read twice: save it, and name it instead of -.');
  }
  try {
    for (const each of [path, ...related]) await requireFile(each);
    const file = path === '-' ? readInput : toFile(path);
    yield* readFile({ source, file, related: related.map(toFile), columns });
  } catch (error) {
    if (error instanceof ImportFileError) throw failed(error.message);
    throw error;
  }
}

/** Reads standard input as bytes, also when its stream decodes them. */
async function* readInput(): AsyncGenerator<Uint8Array> {
  for await (const chunk of commandProcess().stdin) yield Buffer.from(chunk);
}

function toFile(path: string): OpenFile {
  return () => createReadStream(path);
}

async function requireFile(path: string): Promise<void> {
  if (path === '-') return;
  try {
    await (await open(path)).close();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      throw failed(`The file ${path} does not exist.`, { cause: error });
    }
    throw error;
  }
}
