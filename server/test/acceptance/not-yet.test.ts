import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { openAcceptanceService } from './acceptance-service.ts';
import { problem } from './bodies.ts';
import { describeBodyRefusals } from './common-refusals.ts';

const service = await openAcceptanceService();

/** What the interface names and this version does not do yet, each with a request that is in order. */
const operations: { path: string; body: unknown }[] = [
  { path: '/api/v1/subscribers', body: { email: 'ada@example.com' } },
];

describe('501', () => {
  for (const { path, body } of operations) {
    test(`${path} says that it is not offered yet`, async () => {
      const answer = await service.post(path, body);
      assert.deepEqual([answer.status, answer.body], [501, problem('not_implemented')]);
    });

    test(`${path} judges a request first`, async () => {
      const answer = await service.post(path, '[');
      assert.equal(answer.status, 422);
    });
  }
});

describe('/api/v1/subscribers', () => {
  describeBodyRefusals(service, '/api/v1/subscribers', ['email']);
});
