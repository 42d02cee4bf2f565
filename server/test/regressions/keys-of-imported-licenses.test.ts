import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';

import { readBody } from '../acceptance/bodies.ts';
import { startTestService } from '../harness.ts';
import { anyAddress } from '../http-client.ts';

const KEYS = ['IMPORTED-KEY-1', 'IMPORTED-KEY-2', 'IMPORTED-KEY-3'];

/**
 * `check` showed the key of a license for 24 hours after its creation, also after an import. Imported transaction ids may be
 * sequential order numbers: 3,000 requests found every imported key.
 */
test('check shows no key of an imported license, and limits the transaction ids of a network', async () => {
  const service = await startTestService();
  const orders = KEYS.map((licenseKey, index) =>
    foreign({ licenseKey, transactionId: String(1001 + index) }),
  );
  await runImport(service.context, orders, { allowWeakKeys: true });

  const guesser = anyAddress();
  const ids = Array.from({ length: 300 }, (_, index) => String(900 + index));
  const answers = await Promise.all(
    ids.map((id) => service.get(`/api/v1/licenses/check/${id}`, { 'x-forwarded-for': guesser })),
  );
  const shown = answers.filter(({ text }) => KEYS.some((key) => text.includes(key)));
  assert.equal(shown.length, 0);
  // The three existing ids stop counting, so three more may have been admitted.
  assert.ok(answers.filter(({ status }) => status === 429).length >= 177);

  // No client sees a key, whichever ids were admitted.
  for (const id of ['1001', '1002', '1003']) {
    const { body } = await service.get(`/api/v1/licenses/check/${id}`);
    assert.equal(readBody(body)['license_key'], null);
    assert.equal(readBody(body)['status'], 'active');
  }
});
