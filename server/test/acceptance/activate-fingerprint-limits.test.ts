import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { anyUnknownKey } from '../license-steps.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { fingerprintError } from './bodies.ts';

const PATH = '/api/v1/licenses/activate';

const service = await openAcceptanceService();

function ask(licenseKey: string, fingerprint: unknown, headers: Record<string, string> = {}) {
  const body = { license_key: licenseKey, machine_fingerprint: fingerprint };
  return service.post(PATH, body, headers);
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : { a: deep(levels - 1) };
}

function wide(keys: number) {
  return Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key${index}`, index]));
}

/** Returns a fingerprint whose JSON has that many bytes. */
function long(bytes: number) {
  return {
    model: 'é'.repeat((bytes - 12) / 2) + 'x'.repeat((bytes - 12) % 2),
  };
}

describe('422', () => {
  test('accepts a fingerprint of 3 levels, 32 keys or 8 KiB', inProcess, async () => {
    const { licenseKey } = await service.own.issue({ maxActivations: 9 });
    for (const fingerprint of [deep(3), wide(32), long(8192)]) {
      assert.equal((await ask(licenseKey, fingerprint)).status, 200);
    }
  });

  const refused: [string, unknown, string][] = [
    ['none at all', {}, 'must not be empty'],
    ['4 levels', deep(4), 'must not nest deeper than 3 levels'],
    ['33 keys', wide(33), 'must not have more than 32 keys'],
    ['8 KiB and a byte', long(8193), 'must not be longer than 8192 bytes of JSON'],
    [
      'a machine id of more than 1,024 characters',
      { machine_id: 'm'.repeat(1025) },
      'must not name the machine in more than 1024 characters',
    ],
    ['a null character', { a: '\0' }, 'must not hold null characters or lone surrogates'],
    ['a null character in a key', { 'a\0': 1 }, 'must not hold null characters or lone surrogates'],
    [
      'half a surrogate pair',
      { a: ['\ud800'] },
      'must not hold null characters or lone surrogates',
    ],
  ];
  for (const [what, fingerprint, message] of refused) {
    test(`a fingerprint with ${what}`, async () => {
      // The key is unknown, but a 422 precedes the look-up.
      const answer = await ask(anyUnknownKey(), fingerprint);
      assert.deepEqual([answer.status, answer.body], [422, fingerprintError(message)]);
    });
  }
});
