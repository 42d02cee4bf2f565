/** Checks that one file of each feature says what the feature is. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { repository } from './lib/steps.ts';

const FEATURES = join(repository, 'server/src/features');

test('exactly one file of each feature begins with a sentence that says what the feature is', () => {
  const wrong = readdirSync(FEATURES).flatMap((feature) => {
    const files = globSync('**/*.ts', { cwd: join(FEATURES, feature) });
    const found = files.filter((file) =>
      /^\/\*\* Feature: .+\. \*\/\n/u.test(readFileSync(join(FEATURES, feature, file), 'utf8')),
    );
    return found.length === 1 ? [] : [`${feature}: ${found.join(', ') || 'no file'}`];
  });
  assert.deepEqual(wrong, []);
});
