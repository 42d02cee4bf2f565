/** The account of an import by an API: its key, and the address. */
import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';

import { InvalidArgumentError } from 'commander';

import { webUrl } from '#server/config/env-values.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import { failed } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';

const KEY = /^[!-~]{8,1000}$/u;

/**
 * Reads a key from the first line of a file; `-` is standard input.
 * @throws CommandError for a file that does not exist or contains no key
 */
export async function readApiKey(path: string): Promise<string> {
  const content = path === '-' ? await readText(commandProcess().stdin) : await read(path);
  const key = content.replace(/^\uFEFF/u, '').trim();
  if (KEY.test(key)) return key;
  throw failed('The file of the key must contain one line: the key, without spaces.');
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      throw failed(`The file ${path} does not exist.`, { cause: error });
    }
    throw error;
  }
}

/** Parses the address of an API. */
export function apiAddress(text: string): string {
  const parsed = webUrl(text);
  if ('value' in parsed) return parsed.value;
  throw new InvalidArgumentError(`The address must ${parsed.must}.`);
}
