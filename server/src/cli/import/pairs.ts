/** Pairs such as `OLD=PRODUCT` in options and in the file of a mapping. */
import { readFile } from 'node:fs/promises';

import { InvalidArgumentError } from 'commander';

import { hasCode } from '#server/lib/unknown-values.ts';

import { failed } from '../command-error.ts';

export type Pair = readonly [string, string];

const MAX_FILE_CHARACTERS = 1_048_576;

/** Parses `a=b,c=d`, in which no name contains a comma; a repeated option adds pairs. */
export function pairs(text: string, previous: readonly Pair[] = []): readonly Pair[] {
  const added = text.split(',').map((part) => {
    const pair = parsePair(part);
    if (pair === null) throw new InvalidArgumentError('Expected pairs such as 4711=personal.');
    return pair;
  });
  return [...previous, ...added];
}

/** A name may contain an equals sign, the id of a product cannot. */
function parsePair(text: string): Pair | null {
  const at = text.lastIndexOf('=');
  const pair = [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
  return at < 1 || pair.includes('') ? null : pair;
}

/**
 * Reads a mapping: a pair on each line; empty lines and those that begin with `#` are ignored.
 * @throws CommandError for a file that does not exist, or a line that is no pair
 */
export async function readPairsFile(path: string): Promise<readonly Pair[]> {
  const text = await read(path);
  if (text.length > MAX_FILE_CHARACTERS)
    throw failed('The mapping has more than a million characters.');
  return text
    .replace(/^\uFEFF/u, '')
    .split('\n')
    .flatMap((each, index) => {
      const line = each.trim();
      if (line === '' || line.startsWith('#')) return [];
      const pair = parsePair(line);
      if (pair === null) throw failed(`${path}, line ${index + 1}: expected OLD=PRODUCT.`);
      return [pair];
    });
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
