/** Checks the workflows of `.github/workflows`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

import { repository } from './lib/steps.ts';

const files = globSync('.github/workflows/*.yml', { cwd: repository }).sort();
const Manifest = Type.Object({ scripts: Type.Record(Type.String(), Type.String()) });
const hasActionlint = spawnSync('actionlint', ['-version']).status === 0;

function read(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

test('run only commands of package.json', () => {
  const { scripts } = Parse(Manifest, JSON.parse(read('package.json')));
  const commands = files.flatMap((file) => {
    const text = read(file);
    const run = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    const lists = [...text.matchAll(/command: \[(.*)\]/g)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.replaceAll(/['\s]/g, '')),
    );
    return [...run, ...lists];
  });
  assert.ok(commands.length > 5);
  assert.deepEqual(
    commands.filter((name) => !(name in scripts)),
    [],
  );
});

test(
  'have no fault that actionlint finds',
  { skip: !hasActionlint && 'actionlint is missing' },
  () => {
    const { status, stdout } = spawnSync('actionlint', files, {
      cwd: repository,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  },
);
