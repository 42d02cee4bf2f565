import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';
import { DatabaseError } from 'pg';

import { isolateFailures } from './isolate-failures.ts';

function databaseError(code: string): DatabaseError {
  const error = new DatabaseError('refused', 0, 'error');
  error.code = code;
  return error;
}

/** A statement that takes all its inputs or, when there is a poisonous one among them, none. */
function makeStatement(isPoison: (input: number) => boolean) {
  const stored: number[] = [];
  let executions = 0;
  return {
    stored,
    executions: () => executions,
    execute: async (inputs: readonly number[]) => {
      executions++;
      if (inputs.some(isPoison)) throw databaseError('22P02');
      stored.push(...inputs);
      return inputs.map((input) => input * 10);
    },
  };
}

describe('isolateFailures', () => {
  test('one poisonous input among 100 fails alone, in a few executions', async () => {
    const statement = makeStatement((input) => input === 37);
    const inputs = Array.from({ length: 100 }, (_, index) => index);
    const results = await isolateFailures(inputs, statement.execute);
    results.forEach((result, index) => {
      if (index === 37) assert.ok(!result.ok && result.error instanceof DatabaseError);
      else assert.deepEqual(result, { ok: true, output: index * 10 });
    });
    assert.ok(statement.executions() <= 15, `${statement.executions()} executions`);
  });

  test('whatever the inputs: each has its own result, and each good one is stored once', async () => {
    const property = fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (poison) => {
      const inputs = poison.map((_, index) => index);
      const statement = makeStatement((input) => poison[input] === true);
      const results = await isolateFailures(inputs, statement.execute);
      assert.deepEqual(
        results.map((result) => (result.ok ? result.output : 'failed')),
        inputs.map((input) => (poison[input] === true ? 'failed' : input * 10)),
      );
      assert.deepEqual(
        statement.stored,
        inputs.filter((input) => poison[input] !== true),
      );
      const bad = poison.filter(Boolean).length;
      const depth = Math.ceil(Math.log2(Math.max(2, inputs.length)));
      assert.ok(statement.executions() <= 1 + 2 * bad * depth);
    });
    await fc.assert(property, { numRuns: 200 });
  });

  for (const code of ['40P01', '40001']) {
    test(`a conflict with another process (${code}) is tried again, whole`, async () => {
      const sizes: number[] = [];
      const results = await isolateFailures([1, 2, 3], async (inputs) => {
        sizes.push(inputs.length);
        if (sizes.length < 5) throw databaseError(code);
        return inputs;
      });
      assert.deepEqual(sizes, [3, 3, 3, 3, 3]);
      assert.deepEqual(
        results.map((result) => result.ok),
        [true, true, true],
      );
    });
  }

  test('a conflict that never ends is given up, with its own error', async () => {
    const conflict = databaseError('40P01');
    let executions = 0;
    const results = await isolateFailures([1], async () => {
      executions++;
      throw conflict;
    });
    assert.deepEqual(results, [{ ok: false, error: conflict }]);
    assert.equal(executions, 5);
  });

  const gone = [
    databaseError('57P01'),
    databaseError('08006'),
    databaseError('53300'),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Query read timeout'),
  ];
  for (const error of gone) {
    test(`a database that is gone fails everyone after one try: ${error.message} ${'code' in error ? String(error.code) : ''}`, async () => {
      let executions = 0;
      const results = await isolateFailures([1, 2, 3, 4], async () => {
        executions++;
        throw error;
      });
      assert.equal(executions, 1);
      assert.deepEqual(
        results,
        [1, 2, 3, 4].map(() => ({ ok: false, error })),
      );
    });
  }
});
