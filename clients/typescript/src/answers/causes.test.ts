import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeError, findCause } from './causes.ts';

/** An error as undici throws it. */
function failed(code: string, message = 'any'): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
}

test('finds the cause in errors of Node.js', () => {
  const causes = {
    ENOTFOUND: 'dns',
    EAI_AGAIN: 'dns',
    ECONNREFUSED: 'connection',
    ECONNRESET: 'connection',
    ENETUNREACH: 'connection',
    UND_ERR_SOCKET: 'connection',
    ETIMEDOUT: 'timeout',
    UND_ERR_CONNECT_TIMEOUT: 'timeout',
    UND_ERR_HEADERS_TIMEOUT: 'timeout',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
    SELF_SIGNED_CERT_IN_CHAIN: 'tls',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
    CERT_HAS_EXPIRED: 'tls',
    ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
    ERR_SSL_WRONG_VERSION_NUMBER: 'tls',
    EPROTO: 'tls',
  };
  for (const [code, cause] of Object.entries(causes))
    assert.equal(findCause(failed(code)), cause, code);
});

test('the error that Node.js makes of 407 is that of a proxy', () => {
  assert.equal(findCause(new TypeError('fetch failed', { cause: new Error('') })), 'proxy');
});

test('finds the cause in errors of Electron', () => {
  const causes = {
    'net::ERR_NAME_NOT_RESOLVED': 'dns',
    'net::ERR_PROXY_CONNECTION_FAILED': 'proxy',
    'net::ERR_TUNNEL_CONNECTION_FAILED': 'proxy',
    'net::ERR_CERT_AUTHORITY_INVALID': 'tls',
    'net::ERR_SSL_PROTOCOL_ERROR': 'tls',
    'net::ERR_CONNECTION_TIMED_OUT': 'timeout',
    'net::ERR_TIMED_OUT': 'timeout',
    'net::ERR_INTERNET_DISCONNECTED': 'connection',
    'net::ERR_CONNECTION_REFUSED': 'connection',
    'Redirect was cancelled': 'portal',
  };
  for (const [message, cause] of Object.entries(causes)) {
    assert.equal(findCause(new Error(message)), cause, message);
  }
});

test('an unknown error is a missing connection', () => {
  for (const error of [new TypeError('Failed to fetch'), 'text', null, undefined, 7]) {
    assert.equal(findCause(error), 'connection');
  }
});

test('describes errors within errors, without an end of its own', () => {
  const inner = Object.assign(new Error('connect ECONNREFUSED ::1'), { code: 'ECONNREFUSED' });
  const outer = new TypeError('fetch failed', { cause: inner });
  assert.equal(
    describeError(outer),
    'TypeError fetch failed; Error ECONNREFUSED connect ECONNREFUSED ::1',
  );
  const circular = new Error('a');
  circular.cause = circular;
  assert.equal(describeError(circular).split(';').length, 5);
});
