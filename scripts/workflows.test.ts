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

/** A commit, because tags can be moved to other code, and the version that it had when it was pinned. */
const PINNED = /^[\w-]+(?:\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** Returns the value of every `uses`, with its comment. */
function listActions(file: string): string[] {
  return [...read(file).matchAll(/\buses: *(.*)$/gm)].map(([, action = '']) => action);
}

test('pin every action to a commit, and name its version', () => {
  const actions = files.flatMap(listActions);
  assert.ok(actions.length > 5);
  assert.deepEqual(
    actions.filter((action) => !PINNED.test(action)),
    [],
  );
  for (const movable of ['actions/checkout@v5', 'actions/checkout@v5.1.0', 'actions/checkout'])
    assert.doesNotMatch(movable, PINNED);
});

test('use each action at one commit', () => {
  const actions = new Set(files.flatMap(listActions));
  const names = [...actions].map((action) => action.replace(/@.*/, ''));
  assert.deepEqual(names, [...new Set(names)]);
});

test('do not store the token for later steps', () => {
  for (const file of files) {
    const checkouts = listActions(file).filter((action) => action.startsWith('actions/checkout@'));
    const refusals = read(file).matchAll(
      /uses: actions\/checkout@.*\n {8}with:\n {10}persist-credentials: false$/gm,
    );
    assert.equal([...refusals].length, checkouts.length, file);
  }
});

test('have no permission to write but those of the draft of a release', () => {
  const writable = files.flatMap((file) =>
    [...read(file).matchAll(/^ *([\w-]+): write\b/gm)].map(([, name]) => `${file} ${name}`),
  );
  assert.deepEqual(
    writable.sort(),
    ['attestations', 'contents', 'id-token'].map((name) => `.github/workflows/release.yml ${name}`),
  );
  for (const file of files) assert.doesNotMatch(read(file), /write-all|pull_request_target/, file);
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
