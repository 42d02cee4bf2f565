import assert from 'node:assert/strict';
import { test } from 'node:test';

import { redisUrl } from './redis-url.ts';

test('accepts what the client of Redis accepts', () => {
  for (const url of [
    'redis://host',
    'rediss://user:p%25s@host:6379/',
    'valkey://:secret@[::1]:6379/15',
    'VALKEYS://host:6379',
  ]) {
    assert.deepEqual(redisUrl(url), { value: url });
  }
});

test('names what is wrong with another URL', () => {
  const shape = 'be a URL such as redis://:password@host:6379';
  const encoding = 'have a percent-encoded user name and password: write % as %25';
  const path = 'end after the port, or with the number of a database such as /0';
  for (const [url, must] of [
    ['http://host', shape],
    ['redis:///0', shape],
    ['host:6379', shape],
    ['redis://host:x', shape],
    ['redis://:%zz@host', encoding],
    ['redis://%:secret@host', encoding],
    ['redis://host:1/abc', path],
    ['redis://host:1/0/1', path],
  ] as const) {
    assert.deepEqual(redisUrl(url), { must });
  }
});
