import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkAddresses } from './check-addresses.ts';

const DOMAIN = 'monitor.example.com';

/** Whether something stands against it, is only told, or is all right. */
function judge(domainAddresses: readonly string[], addresses: readonly string[]): string {
  const { notes, objections } = checkAddresses(DOMAIN, {
    domainAddresses,
    addresses,
    resolverFault: null,
  });
  if (objections.length > 0) return 'objection';
  return notes.length > 0 ? 'note' : 'fine';
}

test('a machine behind a translation of addresses may be meant by an address that it does not know', () => {
  assert.equal(judge(['203.0.113.7'], ['10.0.0.5']), 'note');
  assert.equal(judge(['203.0.113.7'], []), 'note');
  assert.equal(judge(['10.0.0.9'], ['10.0.0.5']), 'objection');
  assert.equal(judge(['203.0.113.7'], ['198.51.100.9']), 'objection');
});

test('IPv4 is translated also where the machine has a public address of IPv6', () => {
  assert.equal(judge(['203.0.113.7'], ['10.0.0.5', '2001:db8::5']), 'note');
  assert.equal(judge(['2001:db8::9'], ['10.0.0.5', '2001:db8::5']), 'objection');
  assert.equal(judge(['203.0.113.7'], ['2001:db8::5']), 'objection');
  assert.equal(judge(['2001:db8::9'], ['198.51.100.9']), 'objection');
});

test('an address of the machine is known however it is written', () => {
  assert.equal(judge(['2001:db8:0::5'], ['2001:db8::5']), 'fine');
  assert.equal(judge(['203.0.113.7', '198.51.100.9'], ['203.0.113.7']), 'note');
});

function judgeNone(resolverFault: string | null): string {
  return checkAddresses(DOMAIN, {
    domainAddresses: [],
    addresses: [],
    resolverFault,
  }).objections.join();
}

test('a resolver that fails is reported, and not a name without addresses', () => {
  assert.match(judgeNone('ETIMEOUT'), /^The name servers .* do not answer .* \(ETIMEOUT\), /u);
  assert.match(judgeNone(null), /has no address in the DNS/u);
});
