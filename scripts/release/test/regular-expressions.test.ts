/** Proves the ledger of linear regular expressions again, which takes some five minutes of processor time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findProblem } from '../../regular-expressions/check-expression.ts';
import { groupByExpression } from '../../regular-expressions/ledger.ts';
import { findAllExpressions } from '../../regular-expressions/sources.ts';

test('every regular expression of the delivered sources is linear', { timeout: 1_800_000 }, () => {
  const expressions = [...groupByExpression(findAllExpressions().constant)];
  const problems = expressions.flatMap(([expression, [first]]) => {
    const problem = first === undefined ? null : findProblem(first);
    return problem === null ? [] : [`${first?.place}: ${expression} ${problem}`];
  });
  assert.ok(expressions.length > 500, 'the expressions were not found');
  assert.deepEqual(problems, []);
});
