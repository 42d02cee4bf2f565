import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { createTestApp } from '../test-app.ts';

/** A malformed request and the response that clients of such services expect. */
const Vector = Type.Object({
  operation: Type.String(),
  case: Type.String(),
  method: Type.Literal('POST'),
  path: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String(),
  status: Type.Literal(422),
  detail: Type.Array(
    Type.Object({
      loc: Type.Optional(Type.Array(Type.Unknown())),
      loc_starts: Type.Optional(Type.Array(Type.Unknown())),
      type: Type.String(),
      msg: Type.Optional(Type.String()),
      msg_starts: Type.Optional(Type.String()),
    }),
    { minItems: 1 },
  ),
});
const Faults = Type.Object({
  detail: Type.Array(
    Type.Object({ loc: Type.Array(Type.Unknown()), type: Type.String(), msg: Type.String() }),
  ),
});

const file = new URL('../fixtures/validation-vectors.json', import.meta.url);
const vectors = Parse(Type.Array(Vector), JSON.parse(readFileSync(file, 'utf8')));

describe('a malformed request gets the response of its vector', () => {
  const app = createTestApp();
  after(() => app.close());

  test('there are 138 vectors', () => {
    assert.equal(vectors.length, 138);
  });

  for (const [index, vector] of vectors.entries()) {
    test(`${index}: ${vector.operation}, ${vector.case}`, async () => {
      const { method, path, headers, body } = vector;
      const response = await app.inject({ method, url: path, headers, payload: body });
      assert.equal(response.statusCode, 422);
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
      const { detail } = Parse(Faults, response.json());
      // A vector may contain only the start of a text or location: then only that part is compared.
      const comparable = detail.map(({ loc, type, msg }, at) => {
        const expected = vector.detail[at];
        return {
          ...(expected?.loc_starts === undefined
            ? { loc }
            : { loc_starts: loc.slice(0, expected.loc_starts.length) }),
          type,
          ...(expected?.msg_starts === undefined
            ? { msg }
            : { msg_starts: msg.slice(0, expected.msg_starts.length) }),
        };
      });
      assert.deepEqual(comparable, vector.detail);
    });
  }
});
