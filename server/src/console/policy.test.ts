import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FLEET_POLICY, limitConnections, POLICY } from './policy.ts';

const DOCUMENT = '<head>\n    <meta charset="utf-8">\n    <title>Latchkey</title>\n</head>';

test('names each host of the fleet in the document, before anything else', () => {
  assert.equal(
    limitConnections(DOCUMENT, ['nas:4096', '10.0.0.7:443']),
    `<head>
    <meta charset="utf-8">
    <meta http-equiv="content-security-policy" content="connect-src 'self' wss://nas:4096 https://nas:4096 wss://10.0.0.7:443 https://10.0.0.7:443">
    <title>Latchkey</title>
</head>`,
  );
});

test('refuses a host that could end the policy, and a document without a place for it', () => {
  for (const host of ['nas', '*:4096', 'nas:4096 *', 'nas:4096"', "'self':1", 'nas:4096;']) {
    assert.throws(() => limitConnections(DOCUMENT, [host]), /cannot be named/, host);
  }
  assert.throws(() => limitConnections('<head></head>', ['nas:4096']), /no place/);
});

test('differs from the policy of other pages only in the connections', () => {
  assert.equal(
    FLEET_POLICY.replace("connect-src 'self' https: wss:", "connect-src 'self'"),
    POLICY,
  );
});
