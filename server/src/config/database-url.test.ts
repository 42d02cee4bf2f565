import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  formatHost,
  parseDatabaseUrl,
  urlOfHost,
  withoutPassword,
  type DatabaseUrl,
} from './database-url.ts';

function parse(text: string): DatabaseUrl {
  const parsed = parseDatabaseUrl(text);
  assert.ok('value' in parsed, text);
  return parsed.value;
}

function hostsOf(text: string): string {
  return parse(text).hosts.map(formatHost).join(' ');
}

function requirementOf(text: string): string {
  const parsed = parseDatabaseUrl(text);
  assert.ok('must' in parsed, text);
  return parsed.must;
}

test('reads hosts and ports as libpq does', () => {
  for (const [url, expected] of [
    ['postgres://db/x', 'db:5432'],
    ['postgres://u:p@db:6000/x', 'db:6000'],
    ['postgresql://a:1,b:2,c/x', 'a:1 b:2 c:5432'],
    ['postgresql://u:p%40@a,b:2/x', 'a:5432 b:2'],
    ['postgresql://[::1]:1,[fe80::2]/x', '[::1]:1 [fe80::2]:5432'],
    ['postgresql://a,b/x?port=6000', 'a:6000 b:6000'],
    ['postgresql://ignored/x?host=a,b&port=1,2', 'a:1 b:2'],
    ['postgresql://u@/x?host=/run/a,/run/b', '/run/a:5432 /run/b:5432'],
    ['postgresql://%2Frun%2Fa,b/x', '/run/a:5432 b:5432'],
    ['postgresql:///x', 'localhost:5432'],
    ['postgresql:///x?host=/run/postgresql', '/run/postgresql:5432'],
  ] as const) {
    assert.equal(hostsOf(url), expected, url);
  }
});

test('separates hosts and their conditions from what all hosts share', () => {
  const url =
    'postgres://u:p%3A@a:1,b:2/x?sslmode=require&target_session_attrs=primary&connect_timeout=4';
  const { tls, ...parsed } = parse(url);
  assert.equal(tls.mode, 'require');
  assert.deepEqual(parsed, {
    hosts: [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ],
    sessionKind: 'primary',
    connectTimeoutMs: 4_000,
    shared: 'postgres://u:p%3A@localhost/x?sslmode=require',
    driver: 'postgres://u:p%3A@localhost/x',
  });
  const plain = parse('postgres://u:p%3A@a/x?connect_timeout=0');
  assert.deepEqual([plain.sessionKind, plain.connectTimeoutMs], [null, null]);
});

test('rejects a URL that leads nowhere', () => {
  for (const url of [
    'mysql://a/b',
    'localhost/x',
    'postgres://a:b:c/d',
    'postgres://a,,b/x',
    'postgres://a:0,b/x',
    'postgres://a,b:65536/x',
    'postgres://a:1x,b/x',
    'postgres://u@/x?host=/run/a,',
    'postgres://[::1,b/x',
  ]) {
    assert.match(requirementOf(url), /^be a URL such as postgres:/u, url);
  }
  assert.equal(
    requirementOf('postgres://a,b,c/x?port=1,2'),
    'have one port for all hosts, or one for each',
  );
  assert.equal(
    requirementOf('postgres://a/x?target_session_attrs=leader'),
    'have one of these as target_session_attrs: any, read-write, read-only, primary, standby, prefer-standby',
  );
  assert.equal(
    requirementOf('postgres://a/x?connect_timeout=soon'),
    'have a connect_timeout in whole seconds, at most 999',
  );
});

test('shows a URL without password and parameters', () => {
  assert.equal(
    withoutPassword('postgres://me:hunter2@db:5432/x?sslmode=require'),
    'postgres://me:***@db:5432/x',
  );
  assert.equal(
    withoutPassword('postgres://me:hunter2@a,b:2/x?target_session_attrs=any'),
    'postgres://me:***@a:5432,b:2/x',
  );
});

test('returns the URL of one of several hosts', () => {
  const several = parse('postgres://u:p%3A@a:1,b:2/x?sslmode=require');
  const urls = several.hosts.map((host) => urlOfHost(several, host));
  assert.deepEqual(urls, [
    'postgres://u:p%3A@localhost/x?sslmode=require&host=a&port=1',
    'postgres://u:p%3A@localhost/x?sslmode=require&host=b&port=2',
  ]);
  assert.deepEqual(urls.map(hostsOf), ['a:1', 'b:2']);
});
