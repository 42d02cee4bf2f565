import { statSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

import { repository } from './steps.ts';

/** Directories without tests of this repository. */
const SKIPPED_DIRECTORIES = new Set(['node_modules', 'data', '.git']);

/** Enough to choose from. */
const MAX_RELATED = 10;

/** What is selected by paths. */
export interface TestSelection {
  readonly files: readonly string[];
  /** A sentence for each directory without tests. */
  readonly notes: readonly string[];
  /** Paths that match no file, such as those with a typo. */
  readonly unmatched: readonly string[];
}

/** Returns all test files of the repository, relative to it. */
export function listTests(): Promise<string[]> {
  return findTests('.');
}

/** Returns the test files of files and directories; for a directory without one, the note names tests that concern it. */
export async function selectTests(paths: readonly string[]): Promise<TestSelection> {
  const found = await Promise.all(
    paths.map(async (path) => ({
      path,
      files: await findTests(relative(repository, path) || '.'),
    })),
  );
  const withoutTests = found.filter(({ files }) => files.length === 0).map(({ path }) => path);
  return {
    files: [...new Set(found.flatMap(({ files }) => files))],
    notes: await Promise.all(withoutTests.filter(isDirectory).map(explainMissing)),
    unmatched: withoutTests.filter((path) => !isDirectory(path)),
  };
}

async function findTests(path: string): Promise<string[]> {
  const pattern = isDirectory(path) ? `${path}/**/*.test.ts` : path;
  const files = await Array.fromAsync(glob(pattern, { cwd: repository, exclude }));
  return files.sort((a, b) => (a < b ? -1 : 1));
}

function exclude(path: string): boolean {
  return SKIPPED_DIRECTORIES.has(path.split('/').at(-1) ?? '');
}

function isDirectory(path: string): boolean {
  return statSync(join(repository, path), { throwIfNoEntry: false })?.isDirectory() === true;
}

async function explainMissing(path: string): Promise<string> {
  const related = await findRelatedTests(path);
  if (related.length === 0) return `${path} contains no tests.`;
  return `${path} contains no tests. These have its name, or import from it:\n  ${related.join('\n  ')}`;
}

/** Those with the name of the directory come first: most tests of a feature call it over HTTP, and import nothing of it. */
async function findRelatedTests(directory: string): Promise<string[]> {
  const name = basename(directory).replace(/s$/, '');
  const imported = `${relative(join(repository, 'server/src'), join(repository, directory))}/`;
  const tests = await listTests();
  const named = tests.filter((file) => basename(file).includes(name));
  const importing = await Promise.all(
    tests.map(async (file) => {
      const source = await readFile(join(repository, file), 'utf8');
      return source.includes(`#server/${imported}`) ? [file] : [];
    }),
  );
  return [...new Set([...named, ...importing.flat()])].slice(0, MAX_RELATED);
}
