import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseFailure, type Failure } from './choose-failure.ts';

function failure(code: string, isEncrypted: boolean): Failure {
  return { event: 'errorMessage', error: Object.assign(new Error(code), { code }), isEncrypted };
}

const NOT_AUTHORIZED = '28000';

test('of two failures, reports the one that does not only say how to connect', () => {
  const wrongPassword = failure('28P01', true);
  const notPlain = failure(NOT_AUTHORIZED, false);
  assert.equal(chooseFailure(wrongPassword, notPlain), wrongPassword);
  assert.equal(chooseFailure(notPlain, wrongPassword), wrongPassword);
  const plainPassword = failure('28P01', false);
  assert.equal(chooseFailure(failure(NOT_AUTHORIZED, true), plainPassword), plainPassword);
  const noClientCertificate = failure(NOT_AUTHORIZED, true);
  assert.equal(chooseFailure(noClientCertificate, notPlain), noClientCertificate);
  assert.equal(chooseFailure(null, notPlain), notPlain);
});
