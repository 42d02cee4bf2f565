import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toConfig } from './config.ts';
import { describeConfiguration } from './describe-settings.ts';
import { listVariableNames, readEnvironment } from './env.ts';

test('describes every setting by the name of its variable', () => {
  const { environment } = readEnvironment({}, () => '');
  const described = describeConfiguration(toConfig(environment, '/srv'), environment);
  const names = listVariableNames().filter((name) => !name.endsWith('_FILE') && name !== 'PORT');
  assert.deepEqual(new Set(described.map(({ name }) => name)), new Set(names));
  assert.ok(described.every(({ origin }) => origin === 'default'));
});

test('reports a port from PORT as set', () => {
  const { environment } = readEnvironment({ PORT: '3000' }, () => '');
  const described = describeConfiguration(toConfig(environment, '/srv'), environment);
  assert.deepEqual(
    described.find(({ name }) => name === 'LATCHKEY_PORT'),
    { name: 'LATCHKEY_PORT', value: '3000', origin: 'set' },
  );
});

test('describes unset event names as all', () => {
  assert.equal(describeEventNames({}), 'all');
  assert.equal(
    describeEventNames({ LATCHKEY_EVENT_NAMES: 'app_*, export_finished' }),
    'app_*,export_finished',
  );
});

function describeEventNames(variables: Record<string, string>): string | null | undefined {
  const { environment } = readEnvironment(variables, () => '');
  const settings = describeConfiguration(toConfig(environment, '/srv'), environment);
  return settings.find(({ name }) => name === 'LATCHKEY_EVENT_NAMES')?.value;
}
