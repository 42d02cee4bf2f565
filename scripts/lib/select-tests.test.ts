import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { selectTests } from './select-tests.ts';

describe('a selection of tests', () => {
  test('contains the tests of files and directories once', async () => {
    const { files, notes } = await selectTests(['scripts/lib', 'scripts/lib/select-tests.test.ts']);
    assert.equal(files.filter((file) => file === 'scripts/lib/select-tests.test.ts').length, 1);
    assert.ok(files.every((file) => file.startsWith('scripts/lib/')));
    assert.deepEqual(notes, []);
  });

  test('names the tests of a feature whose directory has none, and keeps those of other paths', async () => {
    const { files, notes } = await selectTests([
      'server/src/features/trials',
      'scripts/run.test.ts',
    ]);
    assert.deepEqual(files, ['scripts/run.test.ts']);
    assert.equal(notes.length, 1);
    assert.match(notes[0] ?? '', /^server\/src\/features\/trials contains no tests\./u);
    assert.match(notes[0] ?? '', /server\/test\/acceptance\/start-trial\.test\.ts/u);
  });

  test('reports a file that does not exist', async () => {
    const { files, unmatched } = await selectTests(['server/src/no-such.test.ts']);
    assert.deepEqual([files, unmatched], [[], ['server/src/no-such.test.ts']]);
  });
});
