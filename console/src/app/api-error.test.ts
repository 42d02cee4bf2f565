import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readApiError } from './api-error.ts';

test('reads a problem with its current state and its wait', () => {
  const problem = {
    type: '/docs/errors#conflict',
    title: 'Conflict',
    status: 409,
    code: 'conflict',
    detail: 'It changed.',
    current: { version: 3 },
  };
  const error = readApiError(409, problem, '12');
  assert.equal(error.code, 'conflict');
  assert.equal(error.message, 'It changed.');
  assert.deepEqual(error.current, { version: 3 });
  assert.equal(error.retryAfterSeconds, 12);
  assert.equal(error.isTemporary, false);
});

test('reads the errors of fields', () => {
  const body = { detail: [{ loc: ['body', 'email'], msg: 'Not an address', type: 'email' }] };
  const error = readApiError(422, body, null);
  assert.equal(error.code, 'invalid_request');
  assert.deepEqual(error.fields, [{ field: 'email', message: 'Not an address' }]);
});

test('takes the page of a proxy for a service that does not answer', () => {
  for (const status of [502, 503, 504]) {
    const error = readApiError(status, undefined, null);
    assert.deepEqual([error.code, error.isTemporary], ['unreachable', true]);
  }
  assert.equal(readApiError(404, undefined, null).code, 'unknown');
  assert.equal(readApiError(500, { detail: 'x' }, null).code, 'unknown');
});
