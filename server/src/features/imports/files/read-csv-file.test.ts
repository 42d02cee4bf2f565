import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { factsOf, inChunks, readAllRows } from './read-fixture.fixture.ts';

describe('csv', () => {
  const columns = [
    ['key', 'Lizenz'],
    ['email', 'Mail'],
    ['expires', 'Gültig bis'],
    ['machines', 'Geräte'],
    ['devices', 'Benutzt'],
  ] as const;

  test('reads named columns, German dates and decimals, whatever else the table has', async () => {
    const text = `sep=;\r\nNr;Lizenz;Mail;Gültig bis;Geräte;Benutzt\r\n1;"AB;CD";a@example.com;31.12.2027;"3,0";2\r\n2;EF;b@example.com;;;\r\n`;
    const rows = await readAllRows('csv', inChunks(text, 7), { columns });
    assert.deepEqual(
      rows.map((row) => [row.line, factsOf(row)]),
      [
        [
          3,
          {
            licenseKey: 'AB;CD',
            customerEmail: 'a@example.com',
            maxActivations: 3,
            expiresAt: new Date('2027-12-31T00:00:00Z'),
            usedSeats: 2,
          },
        ],
        [4, { licenseKey: 'EF', customerEmail: 'b@example.com', expiresAt: null }],
      ],
    );
  });

  test('reports a value that cannot be read with its line, without the key', async () => {
    const rows = await readAllRows(
      'csv',
      inChunks(
        [
          'license_key,expires_at,max_activations,status,trial,provider,subscription',
          'A,12/31/2027,,,,,',
          'B,,many,,,,',
          'C,,,stolen,,,',
          'D,,,,true,,',
          'E,,,,,ebay,',
          'F,,,past_due,,,',
          'G,,,,,,maybe',
          ',,x,,,,',
          'H,2027-02-30,,,,,',
          'I,,,,,,,extra',
          'J,1798761600,,,,,',
          'K,1798761600000,,revoked,,,',
        ].join('\n'),
      ),
    );
    const date =
      'expires_at must be a date such as 2027-01-31, 2027-01-31 12:00:00 or 31.01.2027, or seconds since 1970.';
    assert.deepEqual(rows.map(factsOf), [
      date,
      'max_activations is not a whole number.',
      'The status "stolen" is not one of active, past_due, expired, suspended, revoked, refunded, disputed, canceled, paused.',
      'A trial cannot be imported: it belongs to the machine that started it.',
      'The provider must be one of paddle, stripe, lemonsqueezy, polar, dodo, creem, fastspring, gumroad, standard.',
      'Only a subscription can be past_due: set subscription to true, or import it as expired.',
      'subscription must be true or false.',
      'The key is empty.',
      date,
      'The row has more columns than the header.',
      { licenseKey: 'J', expiresAt: new Date('2027-01-01T00:00:00Z') },
      { licenseKey: 'K', expiresAt: new Date('2027-01-01T00:00:00Z'), status: 'revoked' },
    ]);
  });

  test('leaves out empty rows, and reads dates with a time, as spreadsheets save them', async () => {
    const text =
      'license_key;expires_at\r\n;\r\nA;05.03.2027 10:11\r\n \t; \r\nB;5.3.2027 10:11:12\r\n;\r\n';
    const rows = await readAllRows('csv', inChunks(text));
    assert.deepEqual(
      rows.map((row) => [row.line, factsOf(row)]),
      [
        [3, { licenseKey: 'A', expiresAt: new Date('2027-03-05T10:11:00Z') }],
        [5, { licenseKey: 'B', expiresAt: new Date('2027-03-05T10:11:12Z') }],
      ],
    );
  });

  test('leaves out licenses of a test mode, which an export marks', async () => {
    const [row] = await readAllRows('csv', inChunks('license_key,is_test,key_hint\nA,true,A'));
    assert.deepEqual(factsOf(row), { licenseKey: 'A', isTest: true });
  });

  test('numbers the records of an array, which interfaces send in one line', async () => {
    const text =
      '{"data":[{"license_key":"A"},{"license_key":""}]}\n[{"items":[{"license_key":"B"}]}]';
    const rows = await readAllRows('csv', inChunks(text, 9));
    assert.deepEqual(
      rows.map((row) => [row.line, factsOf(row)]),
      [
        [1, { licenseKey: 'A' }],
        [2, 'The key is empty.'],
        [3, { licenseKey: 'B' }],
      ],
    );
  });

  test('reads JSON lines with the fields of an export', async () => {
    const text = `\uFEFF{"license_key":"A","subscription":true,"max_activations":2,"expires_at":null,"features":["x"]}\n\n{"license_key":"B"}\n[1]\n`;
    const rows = await readAllRows('csv', inChunks(text, 5));
    assert.deepEqual(
      rows.map((row) => [row.line, factsOf(row)]),
      [
        [1, { licenseKey: 'A', maxActivations: 2, expiresAt: null, isSubscription: true }],
        [3, { licenseKey: 'B' }],
      ],
    );
  });

  test('names what is wrong with a file as a whole', async () => {
    const cases: [string, string | Buffer, RegExp][] = [
      ['csv', 'license_key,Mail\nA,b', /column "Mail" is not known: name the columns/u],
      ['csv', 'Mail\nb', /column "license_key" with the license keys is missing/u],
      ['csv', '', /file is empty/u],
      ['csv', 'license_key\n"open', /Line 2: a quote is not closed\./u],
      ['csv', '{"license_key":"A"', /ends within a JSON value/u],
      ['csv', '{"license_key":"A"}}', /file is not JSON/u],
      ['gumroad', 'Purchase ID,Item Name\nx,y', /column "Purchase Email" is missing/u],
      ['keygen', 'id,key\n1,2', /must be JSON/u],
      ['csv', Buffer.from('license_key\nM\u00fcller', 'latin1'), /not UTF-8/u],
      ['csv', `{"license_key":"${'x'.repeat(5_000_000)}"}`, /record is too long/u],
      ['csv', `{"a":${'['.repeat(200)}`, /nested too deeply/u],
    ];
    for (const [source, content, expected] of cases) {
      const read = readAllRows(
        source === 'csv' ? 'csv' : source === 'gumroad' ? 'gumroad' : 'keygen',
        inChunks(content),
      );
      await assert.rejects(read, expected);
    }
    await assert.rejects(
      readAllRows('csv', inChunks('license_key\nA'), { columns: [['colour', 'x']] }),
      /no field "colour"; these are: id, key/u,
    );
    await assert.rejects(
      readAllRows('csv', inChunks('K\nA'), {
        columns: [
          ['key', 'K'],
          ['email', 'Mail'],
        ],
      }),
      /column "Mail" is missing/u,
    );
  });
});
