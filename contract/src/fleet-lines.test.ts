import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readServerLines } from './fleet-lines.ts';

test('reads names, addresses and labels, separated by spaces or tabs', () => {
  const text = [
    'web-1 web-1.example.com web,berlin',
    '# the old ones',
    '',
    '  10.0.0.7:4100\r',
    'The NAS\tnas.example.com\tstorage, home',
    'db   db.example.com',
  ].join('\n');
  assert.deepEqual(readServerLines(text), {
    servers: [
      { line: 1, name: 'web-1', address: 'web-1.example.com', labels: ['web', 'berlin'] },
      { line: 4, name: '10.0.0.7:4100', address: '10.0.0.7:4100', labels: [] },
      { line: 5, name: 'The NAS', address: 'nas.example.com', labels: ['storage', 'home'] },
      { line: 6, name: 'db', address: 'db.example.com', labels: [] },
    ],
    problems: [],
  });
});

test('reports lines with too many fields', () => {
  const { servers, problems } = readServerLines('the nas nas.example.com storage\nweb\n');
  assert.deepEqual(
    servers.map(({ line }) => line),
    [2],
  );
  assert.deepEqual(
    problems.map(({ line }) => line),
    [1],
  );
  assert.match(problems[0]?.problem ?? '', /tabs/);
});
