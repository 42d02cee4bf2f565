import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';

import { groupTests } from './group-tests.ts';
import { repository } from './steps.ts';

const directory = await mkdtemp(join(tmpdir(), 'group-tests-'));
after(() => rm(directory, { recursive: true }));

const features = Array.from({ length: 33 }, (_, n) => `server/src/features/f${n}.test.ts`);
const alone = ['server/test/faults/killed.test.ts', 'server/test/security/root.test.ts'];

/** Returns the files that each module imports. */
async function group(files: readonly string[], name: string): Promise<string[][]> {
  const modules = await groupTests(files, join(directory, name));
  assert.deepEqual(modules, modules.toSorted(), 'the test runner sorts them');
  const texts = await Promise.all(modules.map((path) => readFile(path, 'utf8')));
  return texts.map((text) =>
    [...text.matchAll(/describe\("(?<file>[^"]+)"/gu)].map(({ groups }) => groups?.['file'] ?? ''),
  );
}

test('puts each file into one process', async () => {
  const groups = await group([...features, ...alone], 'all');
  assert.deepEqual(groups.flat().toSorted(), [...features, ...alone].toSorted());
});

test('lets at most sixteen files share a process', async () => {
  const sizes = (await group(features, 'sharing')).map((files) => files.length);
  assert.deepEqual(sizes, [16, 16, 1]);
});

test('gives a file that changes or measures its process one of its own, between the others', async () => {
  const groups = await group([...features, ...alone], 'alone');
  const places = alone.map((file) => groups.findIndex((files) => files.includes(file)));
  assert.deepEqual(
    places.map((place) => groups[place]),
    alone.map((file) => [file]),
  );
  assert.deepEqual(places, [1, 3]);
});

test('ends a process in which a file that failed left a server open', async () => {
  const file = join(directory, 'leak.test.mjs');
  await writeFile(
    file,
    "import { createServer } from 'node:http'; createServer().listen(0, '127.0.0.1'); throw new Error('failed to load');",
  );
  const [module = ''] = await groupTests([relative(repository, file)], join(directory, 'leak'));
  const text = (await readFile(module, 'utf8')).replace('}, 60000)', '}, 100)');
  await writeFile(module, text);
  const { status, stdout } = spawnSync(process.execPath, ['--test', module], {
    encoding: 'utf8',
    env: withoutTestContext(process.env),
  });
  assert.equal(status, 1);
  assert.match(stdout, /Left open by a test file: .*TCPServerWrap/);
});

/** A test runner inside another one reports to it. */
function withoutTestContext({ NODE_TEST_CONTEXT: _context, ...others }: NodeJS.ProcessEnv) {
  return others;
}
