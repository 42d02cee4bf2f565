import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DatabaseTls } from './database-tls.ts';
import { parseDatabaseUrl, type DatabaseUrl } from './database-url.ts';
import type { Variables } from './env.ts';

function parse(query: string, variables: Variables = {}): DatabaseUrl {
  const parsed = parseDatabaseUrl(`postgres://u@db/x?${query}`, variables);
  assert.ok('value' in parsed, query);
  return parsed.value;
}

function requirementOf(query: string): string {
  const parsed = parseDatabaseUrl(`postgres://u@db/x?${query}`, {});
  assert.ok('must' in parsed, query);
  return parsed.must;
}

test('has the defaults of libpq', () => {
  assert.deepEqual(parse('').tls, {
    mode: 'prefer',
    isModeSet: false,
    rootCertificate: null,
    certificate: null,
    key: null,
    keyPassword: null,
    revocationList: null,
    negotiation: 'postgres',
    channelBinding: 'prefer',
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
  } satisfies DatabaseTls);
});

test('reads the parameters of libpq', () => {
  for (const [query, expected] of [
    ['sslmode=verify-ca&sslrootcert=/a+b.pem', { mode: 'verify-ca', rootCertificate: '/a+b.pem' }],
    ['sslrootcert=system', { mode: 'verify-full', rootCertificate: 'system' }],
    ['ssl=true', { mode: 'require', isModeSet: true }],
    ['sslmode=require&sslmode=disable', { mode: 'disable' }],
    ['sslmode=require&sslnegotiation=direct', { negotiation: 'direct' }],
    ['sslcert=/c&sslkey=/k&sslpassword=s', { certificate: '/c', key: '/k', keyPassword: 's' }],
    ['sslmode=require&channel_binding=require', { channelBinding: 'require' }],
    ['ssl_min_protocol_version=TLSv1.3', { minVersion: 'TLSv1.3' }],
    ['sslcrl=/r', { revocationList: '/r' }],
    ['sslmode=', { mode: 'prefer', isModeSet: false }],
  ] as const) {
    const { tls } = parse(query);
    assert.deepEqual({ ...tls, ...expected }, tls, query);
  }
});

test('reads the variables of libpq where the URL has no parameter', () => {
  const variables = {
    PGSSLMODE: 'verify-ca',
    PGSSLROOTCERT: '/a.pem',
    PGCHANNELBINDING: 'disable',
  };
  const { mode, rootCertificate, channelBinding } = parse('', variables).tls;
  assert.deepEqual([mode, rootCertificate, channelBinding], ['verify-ca', '/a.pem', 'disable']);
  assert.equal(parse('sslmode=require', variables).tls.mode, 'require');
});

test('hands the driver nothing that it would read in its own way', () => {
  const query =
    'sslmode=require&sslrootcert=/a&ssl=true&channel_binding=prefer&application_name=x&keepalives=1&options=-c%20a%3Db';
  assert.equal(parse(query).driver, 'postgres://u@localhost/x?options=-c+a%3Db');
});

test('rejects what libpq does not know, with what to write instead', () => {
  const modes = 'disable, allow, prefer, require, verify-ca, verify-full';
  for (const [query, expected] of [
    ['sslmode=on', `have one of these as sslmode, as in libpq: ${modes}`],
    [
      'sslmode=no-verify',
      `have one of these as sslmode, as in libpq: ${modes}; no-verify is called require there`,
    ],
    [
      'sslmode=require&uselibpqcompat=true',
      'not have uselibpqcompat: sslmode always means what it means in libpq',
    ],
    ['ssl=1', 'have sslmode, as in libpq, instead of ssl'],
    [
      'sslmod=require',
      'not have the parameter sslmod, which Latchkey does not support: sslmode was probably meant',
    ],
    ['pgbouncer=true', 'not have the parameter pgbouncer, which Latchkey does not support'],
    ['sslrootcert=root.pem', 'have an absolute path as sslrootcert'],
    ['sslkey=~/k', 'have an absolute path as sslkey'],
    [
      'sslmode=require&sslrootcert=system',
      'have sslmode=verify-full with sslrootcert=system: with require, the certificate of any server on the internet would do',
    ],
    [
      'sslnegotiation=direct',
      'have sslmode=require, verify-ca or verify-full with sslnegotiation=direct',
    ],
    ['gssencmode=require', 'not require GSSAPI encryption: use sslmode'],
  ] as const) {
    assert.equal(requirementOf(query), expected, query);
  }
});

test('does not repeat what may be a part of a password', () => {
  const parsed = parseDatabaseUrl('postgres://u:12?hunter2@db/x', {});
  assert.deepEqual(parsed, { must: 'have a percent-encoded password: write ? as %3F' });
});
