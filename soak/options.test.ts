import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ALL_FAULTS } from './faults/all-faults.ts';
import { HELP, readOptions, UsageError } from './options.ts';
import { readYearOptions } from './year/year-options.ts';

test('runs a day of 200,000 machines in 20 minutes without faults by default', () => {
  assert.deepEqual(readOptions([]), {
    machines: 200_000,
    minutes: 20,
    faults: [],
    faultSeconds: 10,
    workers: null,
    out: null,
  });
});

test('reads every option', () => {
  const args = ['--small', '--minutes', '1.5', '--workers', '2', '--out', '/tmp/x'];
  const options = readOptions([...args, '--fault', 'disk full', '--fault', 'disk slow']);
  assert.deepEqual(
    [options?.machines, options?.minutes, options?.workers, options?.out],
    [2_000, 1.5, 2, '/tmp/x'],
  );
  assert.deepEqual(options?.faults.map(({ name }) => name).toSorted(), ['disk full', 'disk slow']);
});

test('--faults causes every fault, and the help names each', () => {
  assert.equal(readOptions(['--faults'])?.faults, ALL_FAULTS);
  for (const { name } of ALL_FAULTS) assert.ok(HELP.includes(`  ${name}\n`), name);
});

test('--year simulates a shop of 5,000 buyers by default', () => {
  assert.deepEqual(readYearOptions(['--year']), { buyers: 5_000, seed: 1 });
  const own = readYearOptions(['--year', '--buyers', '50', '--seed', '7']);
  assert.deepEqual(own, { buyers: 50, seed: 7 });
  assert.equal(readYearOptions(['--small']), null);
  assert.throws(() => readYearOptions(['--year', '--faults']), UsageError);
});

const workersOf = (...args: string[]) => readOptions(args)?.workers;

test('faults need two workers, unless another number is set', () => {
  assert.equal(workersOf('--faults'), 2);
  assert.equal(workersOf('--fault', 'worker killed'), 2);
  assert.equal(workersOf('--faults', '--workers', '3'), 3);
  assert.equal(workersOf('--faults', '--workers', '0'), null);
});

test('refuses wrong arguments with a sentence', () => {
  for (const [args, message] of [
    [['--machines', '1.5'], '--machines must be a whole number from 100 to 1000000.'],
    [['--minutes', ''], '--minutes must be a number from 0.5 to 1440.'],
    [['--workers', '65'], '--workers must be a whole number from 0 to 64.'],
    [['--fault', 'x'], 'There is no fault "x". Run npm run soak -- --help for their names.'],
  ] as const) {
    assert.throws(() => readOptions(args), new UsageError(message));
  }
});

test('--help returns no options', () => {
  assert.equal(readOptions(['--help', '--small']), null);
});
