import assert from 'node:assert/strict';
import { test } from 'node:test';

import { standalone, proxied, listFaults, assertOnly } from './examine.fixture.ts';

test('reports a renewal whose challenge another server answers, or whose copy is outdated', () => {
  const lost = { address: '203.0.113.7', isOwn: true, isOurs: false, summary: 'status 404' };
  assertOnly(
    { ...proxied, challenges: [lost] },
    'renewal',
    'problem',
    'http://m.example.com/.well-known/acme-challenge/ is not answered from /var/lib/latchkey-agent-challenges at 203.0.113.7 (status 404), so the authority would reject the request. A redirect or another server block answers instead: have nginx serve that path.',
    /latchkey-agent install/u,
  );
  assertOnly(
    { ...standalone, isCertificateOutdated: true },
    'renewal',
    'problem',
    'The agent has an older copy than /etc/letsencrypt/live/m.example.com/fullchain.pem.',
    /latchkey-agent install/u,
  );
});

test('accepts a forwarded address that answers', () => {
  const domain = {
    name: 'm.example.com',
    addresses: ['198.51.100.9'],
    resolverFault: null,
    ownAddresses: ['203.0.113.7'],
  };
  const reached = { address: '198.51.100.9', isOwn: false, isOurs: true, summary: 'OK' };
  assert.deepEqual(listFaults({ ...proxied, domain, challenges: [reached] }), []);
});

test('reports a failing resolver', () => {
  const ownAddresses = ['203.0.113.7'];
  const domain = { name: 'm.example.com', addresses: [], resolverFault: 'ETIMEOUT', ownAddresses };
  assertOnly(
    { ...standalone, domain },
    'domain',
    'problem',
    'The name servers do not answer for m.example.com (ETIMEOUT).',
    /resolv\.conf/u,
  );
});
