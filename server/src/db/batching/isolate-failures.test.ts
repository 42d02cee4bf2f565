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

/** A statement that stores all its inputs, or none when one of them is invalid. */
function createStatement(isInvalid: (input: number) => boolean) {
  const stored: number[] = [];
  let executions = 0;
  return {
    stored,
    executions: () => executions,
    execute: async (inputs: readonly number[]) => {
      executions++;
      if (inputs.some(isInvalid)) throw databaseError('22P02');
      stored.push(...inputs);
      return inputs.map((input) => input * 10);
    },
  };
}

describe('isolateFailures', () => {
  test('fails one invalid input of 100 alone, in a few executions', async () => {
    const statement = createStatement((input) => input === 37);
    const inputs = Array.from({ length: 100 }, (_, index) => index);
    const results = await isolateFailures(inputs, statement.execute);
    results.forEach((result, index) => {
      if (index === 37) assert.ok(!result.ok && result.error instanceof DatabaseError);
      else assert.deepEqual(result, { ok: true, output: index * 10 });
    });
    assert.ok(statement.executions() <= 15, `${statement.executions()} executions`);
  });

  test('returns a result for each input and stores each valid one once, for any inputs', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 60 }),
      async (invalid) => {
        const inputs = invalid.map((_, index) => index);
        const statement = createStatement((input) => invalid[input] === true);
        const results = await isolateFailures(inputs, statement.execute);
        assert.deepEqual(
          results.map((result) => (result.ok ? result.output : 'failed')),
          inputs.map((input) => (invalid[input] === true ? 'failed' : input * 10)),
        );
        assert.deepEqual(
          statement.stored,
          inputs.filter((input) => invalid[input] !== true),
        );
        const bad = invalid.filter(Boolean).length;
        const depth = Math.ceil(Math.log2(Math.max(2, inputs.length)));
        assert.ok(statement.executions() <= 1 + 2 * bad * depth);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  for (const code of ['40P01', '40001']) {
    test(`retries the whole batch after a conflict with another process (${code})`, async () => {
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

  test('fails with the conflict after five tries', async () => {
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
    test(`fails all inputs after one try when the database is unavailable: ${error.message} ${'code' in error ? String(error.code) : ''}`, async () => {
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
