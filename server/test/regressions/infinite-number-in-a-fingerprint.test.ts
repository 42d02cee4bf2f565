import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';

/**
 * `1e999` is JSON, and JSON.parse makes Infinity of it. In a fingerprint without a usable component it went on into
 * canonical JSON, which has no text for it, and the answer was 500.
 */
test('a number too large for a double is an invalid fingerprint, not an internal error', async () => {
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
