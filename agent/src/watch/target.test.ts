import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainAnswer, explainClose, explainError } from './failure.ts';
import { openTarget, parseAddress, parseFingerprint } from './target.ts';

function read(text: string): string[] {
  const { hostname, port, pathname } = parseAddress(text);
  return [hostname, port, pathname];
}

function explain(code: string): string {
  return explainError(Object.assign(new Error('x'), { code }), 'db-1:4096').message;
}

test('parses addresses of agents', () => {
  assert.deepEqual(read('wss://db-1.example.com:4097'), ['db-1.example.com', '4097', '/']);
  assert.deepEqual(read('db-1'), ['db-1', '4096', '/']);
  assert.deepEqual(read('[::1]'), ['[::1]', '4096', '/']);
  assert.deepEqual(read('db-1:4097'), ['db-1', '4097', '/']);
  assert.deepEqual(read('wss://db-1/latchkey'), ['db-1', '', '/latchkey']);
  assert.equal(openTarget(parseAddress('wss://db-1/latchkey'), {}).address, 'db-1:443/latchkey');
  for (const wrong of ['', 'http://db-1', 'ws://db-1', 'wss://', 'wss://me@db-1', 'wss://a b']) {
    assert.throws(() => parseAddress(wrong), Error, wrong);
  }
});

test('parses fingerprints as programs write them', () => {
  const digits = 'ab'.repeat(32);
  const upper = Array.from({ length: 32 }, () => 'AB').join(':');
  assert.equal(parseFingerprint(`sha256:${digits}`), digits);
  assert.equal(parseFingerprint(`sha256 Fingerprint=${upper}`), digits);
  assert.throws(() => parseFingerprint('sha256:ab'));
  assert.throws(() => parseFingerprint(`sha1:${'ab'.repeat(20)}`));
});

test('explains answers of proxies', () => {
  const page = '<html><title>400 No required SSL certificate was sent</title></html>';
  const asks = 'db-1:443 requires a valid client certificate';
  const failures = [
    explainAnswer(400, page, 'db-1:443'),
    explainAnswer(496, '', 'db-1:443'),
    explainAnswer(403, '<html>no</html>', 'db-1:443'),
    explainAnswer(502, '<html>no</html>', 'db-1:443'),
    explainAnswer(200, 'Hello\u001b[2J\n', 'db-1:443'),
  ];
  assert.deepEqual(
    failures.map(({ kind, message }) => [kind, message]),
    [
      ['refused', `${asks} (400): use --certificate and --key.`],
      ['refused', `${asks} (496): use --certificate and --key.`],
      ['refused', 'db-1:443 refuses (403).'],
      ['unreachable', 'db-1:443 answers 502: the agent behind it is not running or is overloaded.'],
      ['untrusted', 'The server at db-1:443 is not an agent: 200 (Hello·[2J).'],
    ],
  );
});

test('explains network errors and close codes', () => {
  assert.equal(explain('ENOTFOUND'), 'The name in db-1:4096 does not resolve.');
  assert.equal(explain('ETIMEDOUT'), 'db-1:4096 is unreachable.');
  assert.match(explain('ERR_SSL_WRONG_VERSION_NUMBER'), /does not use TLS/u);
  assert.match(explain('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), /use --certificate/u);
  assert.match(explain('ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED'), /was revoked/u);
  assert.equal(explain('EWHAT'), 'The connection to db-1:4096 failed: x.');
  const { kind, message } = explainClose(1008, 'The client certificate was revoked.', 'db-1:4096');
  assert.deepEqual(
    [kind, message],
    ['refused', 'db-1:4096 closed the connection: The client certificate was revoked.'],
  );
  assert.equal(explainClose(1001, 'The agent stops.', 'db-1:4096').message, 'The agent stops.');
});
