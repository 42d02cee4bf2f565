/** Checks that the languages of pages and e-mails are listed once, and that add-a-language.md names every file with their texts. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { LANGUAGES } from '@latchkey/contract';

import { repository } from './lib/steps.ts';

const LIST = 'contract/src/constants.ts';

const sources = globSync(
  ['contract/src/**/*.ts', 'server/src/**/*.ts', 'console/src/**/*.{ts,tsx}'],
  {
    cwd: repository,
  },
)
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(repository, file), 'utf8') }));

function filesWith(pattern: RegExp): string[] {
  return sources.flatMap(({ file, text }) => (pattern.test(text) ? [file] : [])).sort();
}

test('the languages are listed once', () => {
  const quoted = `'(?:${LANGUAGES.join('|')})'`;
  const listed = new RegExp(`${quoted}\\s*[,|]\\s*${quoted}`, 'u');
  assert.deepEqual(filesWith(listed), [LIST]);
});

test('add-a-language.md names every file with texts of each language', () => {
  const page = readFileSync(join(repository, 'docs/contributing/add-a-language.md'), 'utf8');
  const named = Array.from(page.matchAll(/`([\w/-]+\.ts)`/gu), ([, file = '']) => file);
  const files = filesWith(/: Readonly<Record<Language, \w+>> = \{/u);
  assert.deepEqual([...new Set(named)].sort(), [LIST, ...files].sort());
});
