/** What `latchkey import` reads: a file, or an account at a provider. */
import type { Context } from '#server/context.ts';
import type { ImportSource } from '#server/features/imports/facts.ts';
import { FILE_SOURCES } from '#server/features/imports/files/read-file.ts';
import { importFromApi } from '#server/features/imports/import-from-api.ts';
import {
  importLicenses,
  type ImportObserver,
  type ImportRequest,
  type ImportResult,
} from '#server/features/imports/import-licenses.ts';
import { API_SOURCES } from '#server/features/imports/provider-api/api-sources.ts';
import { countOf } from '#server/lib/text.ts';

import { usageError } from '../command-error.ts';
import { printNote } from '../output.ts';
import { readApiKey } from './api-account.ts';
import { openFileRows } from './open-rows.ts';
import type { Pair } from './pairs.ts';

interface SourceOptions {
  readonly file: string | null;
  readonly from: ImportSource;
  readonly keyFile: string | null;
  readonly apiUrl: string | null;
  readonly related: readonly string[] | null;
  readonly columns: readonly Pair[] | null;
}

/** What is imported, and how. */
interface OpenedSource {
  /** For the audit log. */
  readonly origin: string;
  readonly run: (
    context: Context,
    request: Omit<ImportRequest, 'source' | 'origin'>,
    observer: ImportObserver,
  ) => Promise<ImportResult>;
}

/**
 * Opens the file or the account that options name.
 * @throws CommandError for options that do not belong together, or a key that cannot be read
 */
export async function openSource(options: SourceOptions): Promise<OpenedSource> {
  return options.file === null ? openApi(options) : openFile(options, options.file);
}

function openFile(
  { from, keyFile, apiUrl, ...options }: SourceOptions,
  path: string,
): OpenedSource {
  const source = FILE_SOURCES.find((each) => each === from);
  if (source === undefined) {
    throw usageError(`Files of ${from} are not read: leave out the file, and name a --key-file.`);
  }
  if (keyFile !== null || apiUrl !== null) {
    throw usageError('Name either a file, or the --key-file of an account.');
  }
  const { related, columns } = options;
  const origin = path === '-' ? 'standard input' : path;
  return {
    origin,
    run: async (context, request, observer) => {
      const files = { source, path, related: related ?? [], columns: columns ?? [] };
      const rows = openFileRows(files);
      return importLicenses(context, rows, { ...request, source, origin }, observer);
    },
  };
}

async function openApi({ from, keyFile, apiUrl, ...files }: SourceOptions): Promise<OpenedSource> {
  const source = API_SOURCES.find((each) => each === from);
  if (source === undefined) throw usageError(`Name the file that was exported from ${from}.`);
  if (files.related !== null || files.columns !== null) {
    throw usageError('--related and --columns belong to a file.');
  }
  if (keyFile === null) {
    throw usageError(`Name the file with the key of the account in --key-file.`);
  }
  const apiKey = await readApiKey(keyFile);
  return {
    origin: `the account at ${from}`,
    run: async (context, request, observer) =>
      importFromApi(
        context,
        { ...request, source, apiKey, apiUrl },
        { ...observer, onWait: printWait },
      ),
  };
}

function printWait(seconds: number, reason: string): void {
  printNote(`${reason}: continuing in ${countOf(seconds, 'second')}.`);
}
