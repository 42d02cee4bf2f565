import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { repository } from './steps.ts';

/**
 * Directories whose tests neither change nor measure their process, so that several files can share one: in the order in which
 * they run, the longest first, so that both cores have work until the end.
 */
const SHARING_DIRECTORIES = [
  'server/test/races/',
  'server/test/acceptance/',
  'server/test/security/',
  'agent/src/',
  'server/test/regressions/',
  'server/src/',
  'agent/test/systems/',
  'soak/',
  'console/src/',
  'contract/',
  'clients/conformance/',
  'clients/typescript/src/',
];

/** Their exceptions. */
const ALONE = [
  'agent/src/collectors.test.ts',
  'agent/src/config/load-config.test.ts',
  'agent/src/stream/hostile.test.ts',
  'server/src/config/load.test.ts',
  'server/src/db/embedded/',
  'server/src/db/tls/read-pem.test.ts',
  'server/src/lib/bounded-cache.test.ts',
  'server/test/security/root.test.ts',
  'server/test/security/sign-in-attacks.test.ts',
  'soak/ledger/ledger.test.ts',
];

/**
 * Where the files that run alone take longest; they start first. Some of the server's measure times: they follow when the
 * compile cache is filled, and beside the groups that compute least.
 */
const LONGEST_ALONE = ['agent/test/', 'scripts/', 'server/test/'];

/** Enough that loading the service costs little, and few enough that the processes end at about the same time. */
const GROUP_SIZE = 16;

/** How long a process may take to close what its tests opened. */
const LEAK_TIMEOUT_MS = 60_000;

/** The largest time of a timer: the test runner ignores `Infinity`. */
const NO_LIMIT_MS = 2_147_483_647;

/**
 * Lets test files share processes, because loading the service takes longer than most files take then. Each file is a suite,
 * which ends what it started.
 * @param files paths of test files, relative to the repository
 * @param directory where the modules that import them are written; it is created
 * @returns these modules, in the order in which to run them
 */
export async function groupTests(files: readonly string[], directory: string): Promise<string[]> {
  const groups = SHARING_DIRECTORIES.flatMap((each) =>
    chunk(files.filter((file) => file.startsWith(each) && canShare(file))),
  );
  const alone = files.filter((file) => !canShare(file)).sort((a, b) => rankAlone(a) - rankAlone(b));
  await mkdir(directory);
  return Promise.all(
    mix(
      alone.map((file) => [file]),
      groups,
    ).map(async (group, index) => {
      // The test runner sorts its files by name.
      const path = join(directory, `${String(index).padStart(3, '0')}.test.mjs`);
      await writeFile(path, renderGroup(group));
      return path;
    }),
  );
}

function canShare(file: string): boolean {
  const startsFile = (path: string) => file.startsWith(path);
  return SHARING_DIRECTORIES.some(startsFile) && !ALONE.some(startsFile);
}

/** Returns the place of a file's directory in {@link LONGEST_ALONE}; others follow. */
function rankAlone(file: string): number {
  const rank = LONGEST_ALONE.findIndex((directory) => file.startsWith(directory));
  return rank === -1 ? LONGEST_ALONE.length : rank;
}

function chunk(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / GROUP_SIZE);
  return Array.from({ length: count }, (_, index) =>
    files.slice(index * GROUP_SIZE, (index + 1) * GROUP_SIZE),
  );
}

/** Distributes items evenly among others: files that run alone wait for processes most of the time, groups compute. */
function mix<Item>(items: readonly Item[], others: readonly Item[]): Item[] {
  const place = (list: readonly Item[]) =>
    list.map((item, index) => ({ item, at: (index + 0.5) / list.length }));
  return [...place(items), ...place(others)].sort((a, b) => a.at - b.at).map(({ item }) => item);
}

/**
 * What a group begins with. What a file leaves open, such as the server of a file that failed to load, ends the process with an
 * error instead of keeping it forever.
 */
const PREAMBLE = `import { after, describe } from 'node:test';

after(() => {
  setTimeout(() => {
    console.error('Left open by a test file:', process.getActiveResourcesInfo().join(', '));
    process.exit(1);
  }, ${LEAK_TIMEOUT_MS}).unref();
});
`;

/** A file has no time limit of its own: each of its tests has one. */
function renderGroup(files: readonly string[]): string {
  const suites = files.map((file) => {
    const url = pathToFileURL(join(repository, file)).href;
    return `describe(${JSON.stringify(file)}, { timeout: ${NO_LIMIT_MS} }, () => import(${JSON.stringify(url)}));`;
  });
  return [PREAMBLE, ...suites, ''].join('\n');
}
