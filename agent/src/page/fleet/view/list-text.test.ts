import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readListText, writeListText } from './list-text.ts';

test('reads addresses with names and labels, separated by commas or tabs', () => {
  const text =
    'db-1.example.com\n\nWEB-1.example.com:443, Web one, web, oslo\n10.0.0.7\toffice\tgate\tgate';
  assert.deepEqual(readListText(text), {
    machines: [
      {
        id: 'db-1.example.com:4096',
        name: 'db-1.example.com',
        address: 'db-1.example.com:4096',
        labels: [],
      },
      {
        id: 'web-1.example.com:443',
        name: 'Web one',
        address: 'web-1.example.com:443',
        labels: ['web', 'oslo'],
      },
      { id: '10.0.0.7:4096', name: 'office', address: '10.0.0.7:4096', labels: ['gate'] },
    ],
    faults: [],
  });
});

test('names the lines that are invalid or listed twice', () => {
  assert.deepEqual(readListText('web-1\nhttps://web-2/\nweb-1:4096').faults, [
    'Line 2: “https://web-2/” is not an address.',
    'Line 3: “web-1:4096” is listed twice.',
  ]);
});

test('writes a list that it reads again', () => {
  const text = 'db-1\nweb-1:443, web-1, web, oslo\n[fd00::1]:8443, six';
  const { machines, faults } = readListText(text);
  assert.deepEqual(faults, []);
  const written = writeListText(machines);
  assert.equal(written, 'db-1\nweb-1:443, web-1, web, oslo\n[fd00::1]:8443, six');
  assert.deepEqual(readListText(written).machines, machines);
});
