import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { foreign, runImport } from '../imports/import-steps.fixture.ts';
import { eraseCustomer } from './erase-customer.ts';
import { readPersonalData } from './personal-data.ts';

const { context } = await startTestService();

test('shows and erases the owner of an imported license', async () => {
  const email = 'imported@example.com';
  const row = foreign({ licenseKey: randomUUID().toUpperCase(), customerEmail: email });
  await runImport(context, [row]);

  const found = await readPersonalData(context, email);
  assert.equal(found.tables.get('licenses')?.length, 1);
  assert.equal(found.tables.get('imported_licenses')?.[0]?.['source'], 'gumroad');

  const by = { actor: 'cli:test', reason: 'requested by the customer' };
  await eraseCustomer(context, found, { ...by, revoke: false });
  const left = await readPersonalData(context, email);
  assert.equal(left.tables.get('licenses'), undefined);
});
