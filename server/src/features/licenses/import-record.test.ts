import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCatalog } from '#server/config/catalog.ts';
import { defaults } from '#server/config/config.ts';
import { findColumnProblem, parseImportRecord, type ImportRecord } from './import-record.ts';

const catalog = loadCatalog(defaults.catalogPath);
const personal = catalog.products.get('personal');
assert.ok(personal);

function parse(record: ImportRecord, defaultProduct: typeof personal | null = personal ?? null) {
  return parseImportRecord(record, { catalog, defaultProduct: defaultProduct ?? null });
}

function problemOf(record: ImportRecord, defaultProduct?: null): string {
  const parsed = parse(record, defaultProduct);
  return 'problem' in parsed ? parsed.problem : 'none';
}

test('a record becomes a license with all its values', () => {
  assert.deepEqual(
    parse({
      license_key: ' OLD-1 ',
      product: 'sellers',
      customer_email: ' ann@EXAMPLE.com ',
      customer_name: 'Ann',
      transaction_id: 'txn_1',
      subscription_id: 'sub_1',
      provider: 'paddle',
      max_activations: '7',
      expires_at: '2027-01-01',
      note: 'moved',
      status: 'active',
      created_at: '2020-01-01T00:00:00Z',
    }),
    {
      license: {
        licenseKey: 'OLD-1',
        product: catalog.products.get('sellers'),
        customerEmail: 'ann@example.com',
        customerName: 'Ann',
        transactionId: 'txn_1',
        subscriptionId: 'sub_1',
        provider: 'paddle',
        maxActivations: 7,
        expiresAt: new Date('2027-01-01T00:00:00Z'),
        note: 'moved',
        subscription: false,
      },
    },
  );
});

test('an empty expires_at is perpetual; without the field the product’s term applies', () => {
  for (const empty of ['', null]) {
    const parsed = parse({ license_key: 'OLD-1', expires_at: empty });
    assert.ok('license' in parsed);
    assert.equal(parsed.license.expiresAt, null);
  }
  const parsed = parse({ license_key: 'OLD-1' });
  assert.ok('license' in parsed && !('expiresAt' in parsed.license));
});

test('a subscription is a text or a JSON value, and may be past due', () => {
  for (const said of ['true', true]) {
    const parsed = parse({ license_key: 'OLD-1', subscription: said, status: 'past_due' });
    assert.equal('license' in parsed && parsed.license.subscription, true);
  }
  for (const said of ['false', '', false, null]) {
    const parsed = parse({ license_key: 'OLD-1', subscription: said });
    assert.equal('license' in parsed && parsed.license.subscription, false);
  }
});

test('invalid or unsupported values are problems that do not repeat the key', () => {
  const key = { license_key: 'OLD-1' };
  assert.match(problemOf({ license_key: '' }), /empty/u);
  assert.match(
    problemOf({ license_key: 'LK-AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' }),
    /wrong checksum.*another key_prefix/u,
  );
  assert.match(problemOf({ ...key, product: 'none' }), /no product "none"/u);
  assert.match(problemOf(key, null), /name one, or pass --product/u);
  assert.match(problemOf({ ...key, customer_email: 'ann@' }), /not an e-mail address/u);
  assert.match(problemOf({ ...key, max_activations: '0' }), /from 1 to/u);
  assert.match(problemOf({ ...key, max_activations: 1.5 }), /from 1 to/u);
  assert.match(problemOf({ ...key, expires_at: '31.12.2027' }), /must be a date/u);
  assert.match(problemOf({ ...key, status: 'revoked' }), /status revoked cannot be imported/u);
  assert.match(problemOf({ ...key, status: 'past_due' }), /Only a subscription can be past_due/u);
  assert.match(problemOf({ ...key, subscription: 'yes' }), /subscription must be true or false/u);
  assert.match(problemOf({ ...key, trial: 'true' }), /trial cannot be imported/u);
  assert.match(problemOf({ ...key, note: 'a\u0000b' }), /one line/u);
  assert.match(problemOf({ ...key, note: 'a\uD800' }), /one line/u);
  assert.match(problemOf({ ...key, note: 'x'.repeat(1_001) }), /at most 1000/u);
  assert.match(problemOf({ ...key, note: ['x'] }), /must be text/u);
  assert.match(problemOf({ ...key, colour: 'red' }), /column "colour" is not known/u);
});

test('a file’s columns are checked before its records', () => {
  assert.equal(findColumnProblem(['license_key', 'tier', 'trial', 'created_at']), null);
  assert.match(findColumnProblem(['license_key', 'Email']) ?? '', /"Email" is not known/u);
  assert.equal(findColumnProblem(['product']), 'The column "license_key" is missing.');
});
