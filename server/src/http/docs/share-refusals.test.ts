import assert from 'node:assert/strict';
import { test } from 'node:test';

import { separateTypes } from './separate-types.ts';
import { shareRefusals } from './share-refusals.ts';

/** A refusal as the interface describes it. */
function refusal(...codes: string[]) {
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code } }]));
  return {
    description: codes.join(),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, examples },
    },
  };
}

const FAULTS = {
  description: 'faults',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } },
};
const SUCCESS = {
  description: 'done',
  content: { 'application/json': { schema: { type: 'string' } } },
};

test('refers from each operation to the refusals that it shares with others, and to no success', () => {
  const responses = { 200: SUCCESS, 409: refusal('limit_reached', 'conflict'), 422: FAULTS };
  const document = shareRefusals({
    openapi: '3.1.0',
    components: { schemas: { Problem: {} } },
    paths: { '/a': { post: { operationId: 'a', responses } }, '/b': { get: { responses } } },
  });
  const shared = {
    200: SUCCESS,
    409: { $ref: '#/components/responses/LimitReachedOrConflict' },
    422: { $ref: '#/components/responses/InvalidRequest' },
  };
  assert.deepEqual(document, {
    openapi: '3.1.0',
    components: {
      schemas: { Problem: {} },
      responses: { InvalidRequest: FAULTS, LimitReachedOrConflict: responses[409] },
    },
    paths: {
      '/a': { post: { operationId: 'a', responses: shared } },
      '/b': { get: { responses: shared } },
    },
  });
});

test('rejects two different responses with one name', () => {
  const other = { ...refusal('conflict'), description: 'another' };
  const paths = { '/a': { get: { responses: { 409: refusal('conflict'), 403: other } } } };
  assert.throws(() => shareRefusals({ paths }), /Conflict/);
});

test('separates several types, and leaves a type or null, and a property named type, as they are', () => {
  const schema = {
    type: 'object',
    properties: {
      type: { type: ['string', 'null'] },
      loc: { type: 'array', items: { type: ['string', 'integer', 'null'], description: 'a step' } },
    },
  };
  assert.deepEqual(separateTypes(schema), {
    type: 'object',
    properties: {
      type: { type: ['string', 'null'] },
      loc: {
        type: 'array',
        items: {
          anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }],
          description: 'a step',
        },
      },
    },
  });
});
