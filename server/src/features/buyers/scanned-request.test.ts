import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRequest } from '../../../test/airgap-steps.ts';
import { readScannedRequest } from './scanned-request.ts';

test('reads a request, and nothing that a cookie or a header cannot have', () => {
  const request = createRequest();
  assert.equal(readScannedRequest(request), request);
  for (const text of [
    null,
    '',
    'x',
    `${request} `,
    `${request}\n`,
    `${request};x`,
    `${request}\r\nSet-Cookie: x`,
    `LKR1.${'a'.repeat(2_500)}.b`,
  ]) {
    assert.equal(readScannedRequest(text), null, String(text));
  }
});
