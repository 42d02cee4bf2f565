import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainTlsFailure } from './tls-failure.ts';

function failure(code: string, more: object = {}): Error {
  return Object.assign(new Error('the text of OpenSSL'), { code }, more);
}

test('names the problem of a certificate', () => {
  for (const [code, kind] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self_signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unknown_authority'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unknown_authority'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'host_name'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'not_yet_valid'],
    ['CERT_REVOKED', 'revoked'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client_certificate'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client_certificate'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'protocol'],
  ] as const) {
    assert.equal(explainTlsFailure(failure(code))?.kind, kind, code);
  }
});

test('reads the code of Node.js behind that of the mail library', () => {
  const error = failure('ESOCKET', { originalCode: 'CERT_HAS_EXPIRED' });
  assert.equal(explainTlsFailure(error)?.kind, 'expired');
});

test('lists the host names of a certificate', () => {
  const cert = { subjectaltname: 'DNS:db.example.com, IP Address:10.0.0.1' };
  assert.equal(
    explainTlsFailure(failure('ERR_TLS_CERT_ALTNAME_INVALID', { cert }))?.problem,
    'has a certificate for other host names (db.example.com, 10.0.0.1)',
  );
});

test('explains no error of another kind', () => {
  for (const error of [failure('ECONNREFUSED'), failure('28P01'), new Error('x'), null]) {
    assert.equal(explainTlsFailure(error), null);
  }
});
