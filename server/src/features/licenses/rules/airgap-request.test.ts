import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { formatAirgapRequest } from '../../../../test/airgap-steps.ts';
import { readAirgapRequest, type AirgapRequest } from './airgap-request.ts';

const request: AirgapRequest = {
  product: 'personal',
  machineFingerprint: { machine_id: '4c4c4544-0044', os_version: '15.1' },
  nonce: 'q1w2e3r4t5z6u7i8',
  machineName: 'Lab PC 3',
};
const text = formatAirgapRequest(request);

test('the format is stable: clients in other languages write it', () => {
  const json =
    '{"product":"personal","machine_fingerprint":{"machine_id":"4c4c4544-0044","os_version":"15.1"},"nonce":"q1w2e3r4t5z6u7i8","name":"Lab PC 3"}';
  const payload = Buffer.from(json).toString('base64url');
  assert.equal(text, `LKR1.${payload}.T2oAYEwdoA`);
});

test('reads what it wrote', () => {
  assert.deepEqual(readAirgapRequest(text), { ok: true, request });
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.integer())),
      fc.stringMatching(/^[\w-]{16,64}$/u),
      (values, nonce) => {
        const machineFingerprint = JSON.parse(JSON.stringify(values));
        const one = { ...request, machineFingerprint, nonce };
        assert.deepEqual(readAirgapRequest(formatAirgapRequest(one)), { ok: true, request: one });
      },
    ),
  );
});

for (const [what, copied] of [
  ['wrapped lines', text.replaceAll(/.{40}/gu, '$&\r\n')],
  ['a quoted mail', text.replaceAll(/.{40}/gu, '$&\n> ')],
  ['words before and after it', `The request: ${text}\n\nBest regards\nAnn`],
  ['a byte order mark and an invisible space', `\uFEFF${text}\u200B`],
] as const) {
  test(`reads a request with ${what}`, () => {
    assert.deepEqual(readAirgapRequest(copied), { ok: true, request });
  });
}

describe('refuses', () => {
  for (const [problem, name, refused] of [
    ['missing', 'an empty text', ''],
    ['missing', 'a license key', 'LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WVR0'],
    ['damaged', 'a text that ends early', text.slice(0, -20)],
    ['damaged', 'a text without its last character', text.slice(0, -1)],
    ['damaged', 'a changed character', text.replace('LKR1.eyJ', 'LKR1.eyK')],
    ['version', 'a later version', text.replace('LKR1.', 'LKR2.')],
    ['content', 'a short nonce', formatAirgapRequest({ ...request, nonce: 'short' })],
    ['content', 'a product that is no id', formatAirgapRequest({ ...request, product: '../x' })],
  ] as const) {
    test(`${name}: ${problem}`, () => {
      assert.deepEqual(readAirgapRequest(refused), { ok: false, problem });
    });
  }
});

test('any single changed character is noticed', () => {
  const characters = fc.constantFrom('A', 'B', 'a', 'b', '0', '1', '-', '_');
  fc.assert(
    fc.property(fc.nat(text.length - 1), characters, (at, character) => {
      fc.pre(text[at] !== character);
      const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
      assert.equal(readAirgapRequest(changed).ok, false);
    }),
  );
});

test('shortens a name, and removes characters that could mislead its reader', () => {
  const named = formatAirgapRequest({ ...request, machineName: `\u202Eevil\n${'n'.repeat(100)}` });
  const reading = readAirgapRequest(named);
  assert.ok(reading.ok);
  assert.equal(reading.request.machineName, `evil ${'n'.repeat(55)}`);
});
