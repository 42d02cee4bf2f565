import assert from 'node:assert/strict';
import { test } from 'node:test';

import { timeUuid } from './time-uuid.ts';
import { randomUuid } from './uuid.ts';

test('creates random UUIDs of version 4', () => {
  assert.match(randomUuid(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.notEqual(randomUuid(), randomUuid());
});

test('creates UUIDs of version 7, which begin with the time', () => {
  const form = /^01a3185c-5000-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  assert.match(timeUuid(0x01a3185c5000), form);
  assert.notEqual(timeUuid(0), timeUuid(0));
});
