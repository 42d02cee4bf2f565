import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkAddresses } from './check-addresses.ts';

const DOMAIN = 'monitor.example.com';

/** Returns whether the check has an objection, a note or neither. */
function classify(domainAddresses: readonly string[], addresses: readonly string[]): string {
  const { notes, objections } = checkAddresses(DOMAIN, {
    domainAddresses,
    addresses,
    resolverFault: null,
  });
  if (objections.length > 0) return 'objection';
  return notes.length > 0 ? 'note' : 'none';
}

test('accepts a public address behind NAT', () => {
  assert.equal(classify(['203.0.113.7'], ['10.0.0.5']), 'note');
  assert.equal(classify(['203.0.113.7'], []), 'note');
  assert.equal(classify(['10.0.0.9'], ['10.0.0.5']), 'objection');
  assert.equal(classify(['203.0.113.7'], ['198.51.100.9']), 'objection');
});

test('considers NAT for each address family', () => {
  assert.equal(classify(['203.0.113.7'], ['10.0.0.5', '2001:db8::5']), 'note');
  assert.equal(classify(['2001:db8::9'], ['10.0.0.5', '2001:db8::5']), 'objection');
  assert.equal(classify(['203.0.113.7'], ['2001:db8::5']), 'objection');
  assert.equal(classify(['2001:db8::9'], ['198.51.100.9']), 'objection');
});

test('compares addresses in any notation', () => {
  assert.equal(classify(['2001:db8:0::5'], ['2001:db8::5']), 'none');
  assert.equal(classify(['203.0.113.7', '198.51.100.9'], ['203.0.113.7']), 'note');
});

function explainMissing(resolverFault: string | null): string {
  return checkAddresses(DOMAIN, {
    domainAddresses: [],
    addresses: [],
    resolverFault,
  }).objections.join();
}

test('reports a failing resolver instead of a name without addresses', () => {
  assert.match(explainMissing('ETIMEOUT'), /^The name servers .* do not answer .* \(ETIMEOUT\), /u);
  assert.match(explainMissing(null), /has no address in the DNS/u);
});
