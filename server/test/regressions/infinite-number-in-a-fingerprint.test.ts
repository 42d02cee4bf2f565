import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';

/**
 * `1e999` is valid JSON, and JSON.parse returns Infinity. In a fingerprint without a usable component it reached canonical JSON,
 * which cannot represent it, and the answer was 500.
 */
test('rejects a fingerprint with a number too large for a double', async () => {
  const service = await startTestService();
  for (const fingerprint of ['{"timestamp":1e999}', '{"a":[-1e999]}', '{"machine_id":1e999}']) {
    const answer = await service.post(
      '/api/v1/trial/start',
      `{"machine_fingerprint":${fingerprint}}`,
    );
    assert.equal(answer.status, 422, fingerprint);
    assert.deepEqual(answer.body, {
      detail: [
        {
          loc: ['body', 'machine_fingerprint'],
          msg: 'machine_fingerprint must not hold numbers too large for a double (IEEE 754)',
          type: 'value_error',
        },
      ],
    });
  }
  assert.equal(await service.count('licenses'), 0);
});
