import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { anyAddress, type Answer } from '../http-client.ts';
import { anyMachine, activate, anyUnknownKey, MISTYPED_KEY } from '../license-steps.ts';
import { SECOND_MS } from '../test-clock.ts';
import { inProcess, type AcceptanceService } from './acceptance-service.ts';
import { problem } from './bodies.ts';

const MAX_BODY_BYTES = 64 * 1024;

/**
 * Tests the refusals that all operations with a JSON body share.
 * @param path of an operation that serves POST and nothing else
 * @param required the names of its required fields
 */
export function describeBodyRefusals(
  service: AcceptanceService,
  path: string,
  required: readonly string[],
): void {
  describe('405', () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      test(`rejects ${method} and lists POST in Allow`, async () => {
        const answer = await service.send(method, path);
        assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
        assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), ['OPTIONS', 'POST']);
      });
    }
  });

  describe('413', () => {
    test('validates a body of 64 KiB and rejects a larger one', async () => {
      const longest = `"${'x'.repeat(MAX_BODY_BYTES - 2)}"`;
      assert.equal((await service.post(path, longest)).status, 422);
      const answer = await service.post(path, `${longest} `);
      assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
    });

    test('checks the size before the media type', async () => {
      const body = 'x'.repeat(MAX_BODY_BYTES + 1);
      const answer = await service.post(path, body, { 'content-type': 'text/plain' });
      assert.equal(answer.status, 413);
    });
  });

  describe('415', () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      test(`rejects the media type ${type}, whatever the body`, async () => {
        const answer = await service.post(path, '{"not": "looked at"', { 'content-type': type });
        assert.deepEqual([answer.status, answer.body], [415, problem('unsupported_media_type')]);
      });
    }
  });

  describe('422', () => {
    test('reports all missing fields, in the order of the schema', async () => {
      const answer = await service.post(path, {});
      const problems = required.map((name) => missing('body', name));
      assert.deepEqual([answer.status, answer.body], [422, { detail: problems }]);
    });

    test('reports a missing body and null as one problem', async () => {
      for (const body of ['', 'null']) {
        const answer = await service.post(path, body);
        assert.deepEqual([answer.status, answer.body], [422, { detail: [missing('body')] }]);
      }
    });

    test('rejects a body that is not JSON, also without a content type', async () => {
      const answer = await service.send('POST', path, { body: Buffer.from('{"a": }') });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /^\{"detail":\[\{"loc":\["body"\],/);
      assert.match(answer.text, /"type":"json_invalid"/);
    });
  });
}

function missing(...loc: readonly string[]) {
  return { loc, msg: 'Field required', type: 'missing' };
}

/**
 * Tests the limits on guessing keys that all operations with a license key share.
 * @param ask sends a request with a license key from an address
 * @param expectUnknown asserts that a response is that of an unknown key
 */
export function describeGuessing(
  service: AcceptanceService,
  ask: (licenseKey: string, address: string) => Promise<Answer>,
  expectUnknown: (answer: Answer) => void,
): void {
  describe('429', () => {
    test('rejects the eleventh unknown key in five minutes', async () => {
      const guesser = anyAddress();
      for (let guess = 1; guess <= 10; guess++) {
        expectUnknown(await ask(guess % 2 === 0 ? MISTYPED_KEY : anyUnknownKey(), guesser));
      }
      const refused = await ask(anyUnknownKey(), guesser);
      assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
      assert.equal(refused.headers.get('retry-after'), '30');
      assert.equal(refused.headers.get('ratelimit-policy'), '"guesses";q=10;w=300');
      assert.equal(refused.headers.get('ratelimit'), '"guesses";r=0;t=30');
      assert.equal((await ask(MISTYPED_KEY, guesser)).status, 429);
      expectUnknown(await ask(anyUnknownKey(), anyAddress()));
    });

    test('serves a valid key to a paused address', inProcess, async () => {
      const { licenseKey } = await service.own.issue();
      await activate(service, licenseKey, anyMachine());
      const guesser = anyAddress();
      for (let guess = 1; guess <= 12; guess++) await ask(anyUnknownKey(), guesser);
      assert.notEqual((await ask(licenseKey, guesser)).status, 429);
      assert.equal((await ask(anyUnknownKey(), guesser)).status, 429);
    });

    test(
      'serves an imported key to a paused address only if the address used it before',
      inProcess,
      async () => {
        const guesser = anyAddress();
        const keys = ['used', 'new'].map((name) => `IMPORTED-${name}-${randomUUID()}`);
        for (const licenseKey of keys) await service.own.issue({ licenseKey });
        const [used = '', fresh = ''] = keys;
        assert.notEqual((await ask(used, guesser)).status, 429);
        for (let guess = 1; guess <= 11; guess++) await ask(anyUnknownKey(), guesser);
        assert.notEqual((await ask(used, guesser)).status, 429);
        const refused = await ask(fresh, guesser);
        assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
        assert.equal(refused.headers.get('retry-after'), '30');
        assert.notEqual((await ask(fresh, anyAddress())).status, 429);
      },
    );

    test('ends the pause; the next one is twice as long', inProcess, async () => {
      const { clock } = service.own;
      const guesser = anyAddress();
      for (let guess = 1; guess <= 11; guess++) await ask(anyUnknownKey(), guesser);
      clock.advance(29 * SECOND_MS);
      const late = await ask(anyUnknownKey(), guesser);
      assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '1']);
      clock.advance(SECOND_MS);
      const again = await ask(anyUnknownKey(), guesser);
      assert.deepEqual([again.status, again.headers.get('retry-after')], [429, '60']);
    });
  });
}
