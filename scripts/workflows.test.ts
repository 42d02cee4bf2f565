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

/** An action by GitHub at a major version, or another one at a commit. */
const PINNED = /^actions\/[\w-]+@v\d+$|^[\w./-]+@[0-9a-f]{40}$/;

test('pin every action', () => {
  const actions = files.flatMap((file) =>
    [...read(file).matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action = '']) => action),
  );
  assert.ok(actions.length > 5);
  assert.deepEqual(
    actions.filter((action) => !PINNED.test(action)),
    [],
  );
});

test('may write only where nothing of the repository runs', () => {
  for (const file of files) {
    const [head = '', rest = ''] = read(file).split(/^jobs:\n/m);
    const jobs = rest.split(/^ {2}(?=\w+:$)/m);
    assert.match(head, /^permissions:\n {2}contents: read\n\n/m, file);
    for (const job of jobs.filter((each) => /^ *[\w-]+: write$/m.test(each))) {
      assert.doesNotMatch(job, /actions\/checkout|\bnpm\b/, file);
    }
  }
});
