/**
 * `npm run check:expressions`: proves that the regular expressions that are new since the last run are linear, and lists them in
 * `scripts/regular-expressions/ledger.json`; with `-- --all`, proves every one, in some five minutes.
 */
import { findProblem } from './regular-expressions/check-expression.ts';
import { groupByExpression, readLedger, writeLedger } from './regular-expressions/ledger.ts';
import { findAllExpressions } from './regular-expressions/sources.ts';

const isComplete = process.argv.includes('--all');
const known = isComplete ? new Set<string>() : readLedger();
const expressions = groupByExpression(findAllExpressions().constant);
const proved: string[] = [];
for (const [expression, [first, ...others]] of expressions) {
  const problem = known.has(expression) || first === undefined ? null : findProblem(first);
  if (problem === null) {
    proved.push(expression);
  } else {
    const places = [first, ...others].map((each) => each?.place ?? '').join(', ');
    console.log(`${places}: ${expression} ${problem}.`);
    process.exitCode = 1;
  }
}
writeLedger(proved);
console.log(`${proved.length} of ${expressions.size} regular expressions are linear.`);
