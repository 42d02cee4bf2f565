import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { readBlocks } from './programs/documented-programs.ts';
import { HELP, readOptions, UsageError } from './options.ts';
import { formatBuilt, formatProgress, formatReport, hasDifference } from './report.ts';
import type { SceneReport } from './play/outcome.ts';

const REPORTS: readonly SceneReport[] = [
  {
    theme: 'files',
    scene: 'a damaged file is renamed',
    outcomes: new Map([
      ['go', { status: 'ok', steps: [] }],
      ['swift', { status: 'skipped', reason: 'no swift' }],
    ]),
  },
  {
    theme: 'trial',
    scene: 'a trial begins',
    outcomes: new Map([
      ['go', { status: 'differs', reason: 'trial: state.days_left is 8 instead of 7' }],
      ['swift', { status: 'skipped', reason: 'no swift' }],
    ]),
  },
];

test('reads options, and names a wrong one', () => {
  const options = readOptions([
    '--client',
    'go',
    '--scene',
    'trial',
    '--folder',
    '/tmp/x',
    '--list',
  ]);
  assert.deepEqual(options, { clients: ['go'], scenes: ['trial'], folder: '/tmp/x', list: true });
  assert.match(readOptions([])?.folder ?? '', /clients\/$|clients$/);
  assert.equal(readOptions(['--help']), null);
  assert.throws(() => readOptions(['--clients']), UsageError);
  for (const name of ['--client', '--scene', '--folder', '--list', '--help']) {
    assert.ok(HELP.includes(`\n  ${name} `), name);
  }
});

test('shows the progress with the reason of a difference', () => {
  const [, second] = REPORTS;
  assert.ok(second !== undefined);
  assert.equal(
    formatProgress(second, 2, 70),
    '[  2/70] trial: a trial begins: go differs, swift skipped\n    go: trial: state.days_left is 8 instead of 7',
  );
});

test('reports a table, sums, and what was skipped, never as passed', () => {
  const lines = formatReport(REPORTS, ['go', 'swift']).split('\n');
  assert.match(lines[0] ?? '', /^THEME +SCENE +GO +SWIFT$/i);
  assert.match(lines[1] ?? '', /^files +a damaged file is renamed +ok +skipped$/);
  assert.match(lines[2] ?? '', /^trial +a trial begins +differs +skipped$/);
  assert.deepEqual(lines.slice(3), [
    '',
    '2 scenes',
    'go: 1 ok, 1 differ, 0 skipped',
    'swift: 0 ok, 0 differ, 2 skipped (no swift)',
  ]);
  assert.equal(hasDifference(REPORTS), true);
  assert.equal(hasDifference(REPORTS.slice(0, 1)), false);
});

test('shows which drivers are ready', () => {
  const program = { command: ['node'], folder: '/' };
  assert.equal(formatBuilt('go', { program }), 'go: ready');
  const outcome = { status: 'skipped', reason: 'no swift' } as const;
  assert.equal(formatBuilt('swift', { outcome }), 'swift: skipped: no swift');
});

test('the scene in the README is one that is played', async () => {
  const [scene = ''] = await readBlocks(import.meta.dirname, 'ts');
  const refusals = await readFile(join(import.meta.dirname, 'scenes', 'refusals.ts'), 'utf8');
  assert.ok(refusals.includes(scene.replace(/^(?=.)/gm, '    ')));
  assert.match(scene, /^scene\(/);
});
