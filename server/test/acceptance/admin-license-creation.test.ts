import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { LICENSES, listLicenseIds, showLicense } from '../admin-license-steps.ts';
import { startTestService } from '../harness.ts';
import { activate } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { readBody, readItems, validationErrorsOf } from './bodies.ts';

const service = await startTestService();
const admin = await openBrowser(service, 'admin');

describe('issuing several licenses', () => {
  test('creates them with a key and an audit entry each', async () => {
    const body = {
      product: 'yearly',
      transaction_id: 'invoice-7',
      note: 'conference',
      count: 3,
      reason: 'sponsored',
    };
    const answer = await admin.post(`${LICENSES}/batch`, body);
    assert.equal(answer.status, 200, answer.text);
    const items = readItems(answer.body);
    const ids = items.map((each) => String(each['license_id']));
    assert.equal(new Set(items.map((each) => each['license_key'])).size, 3);
    assert.deepEqual(
      (await listLicenseIds(admin, 'transaction=invoice-7')).toSorted(),
      ids.toSorted(),
    );
    for (const each of items) {
      await activate(service, String(each['license_key']));
      const { rows } = await service.pool.query(
        `select actor, reason from audit_log where action = 'license.issue' and subject_id = $1`,
        [each['license_id']],
      );
      assert.deepEqual(rows, [{ actor: `operator:${admin.email}`, reason: 'sponsored' }]);
    }
    const { note, transaction_id: transaction } = await showLicense(admin, ids[0] ?? '');
    assert.deepEqual([note, transaction], ['conference', 'invoice-7']);
  });

  test('announces each of them to endpoints', async () => {
    const messages = await service.count('webhook_messages');
    const endpoint = { url: 'https://example.com/hook', eventTypes: [], description: null };
    await addEndpoint(service.context, endpoint, { actor: 'test', reason: null });
    await admin.post(`${LICENSES}/batch`, { product: 'personal', count: 2 });
    assert.equal(await service.count('webhook_messages'), messages + 2);
  });

  test('rejects an unknown product and a wrong number, and issues none', async () => {
    const before = await service.count('licenses');
    for (const [body, place] of [
      [{ product: 'gold', count: 2 }, ['body.product', 'value_error']],
      [{ product: 'personal', count: 0 }, ['body.count', 'greater_than_equal']],
      [{ product: 'personal', count: 101 }, ['body.count', 'less_than_equal']],
    ] as const) {
      const answer = await admin.post(`${LICENSES}/batch`, body);
      assert.deepEqual(validationErrorsOf(answer.body), [place]);
    }
    assert.equal(await service.count('licenses'), before);
  });
});

describe('importing JSON lines', () => {
  const line = { license_key: 'KEY-8QX7-PL2M-93VD-TT0Z', customer_email: 'lines@example.com' };
  const jsonl = `${JSON.stringify(line)}\nnot JSON\n`;

  test('imports the valid lines', async () => {
    const body = { jsonl, product: 'personal', dry_run: false };
    const { created, failed } = readBody((await admin.post(`${LICENSES}/import`, body)).body);
    assert.deepEqual([created, failed], [1, 1]);
    assert.equal((await listLicenseIds(admin, 'email=lines@example.com')).length, 1);
    const { rows } = await service.pool.query(
      `select actor from audit_log where action = 'license.import'`,
    );
    assert.equal(rows.length, 1);
  });

  test('rejects both formats at once, and none', async () => {
    for (const texts of [{}, { jsonl, csv: 'license_key\nA\n' }]) {
      const answer = await admin.post(`${LICENSES}/import`, { ...texts, dry_run: true });
      assert.deepEqual(validationErrorsOf(answer.body), [['body.csv', 'value_error']]);
    }
  });
});
