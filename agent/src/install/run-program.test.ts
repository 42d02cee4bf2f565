import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runProgram } from './run-program.ts';

test('a program that ends is told by its exit code and what it printed', async () => {
  const result = await runProgram('sh', ['-c', 'echo "$1"; echo no >&2; exit 3', 'sh', 'a b;c']);
  assert.deepEqual(result, {
    code: 3,
    stdout: 'a b;c\n',
    stderr: 'no\n',
    fault: null,
    isMissing: false,
  });
});

test('a program speaks English, gets what it is given, and nothing of a terminal', async () => {
  const script = 'printf "%s %s " "$LC_ALL" "$EXTRA"; cat';
  const options = { environment: { EXTRA: 'more' }, input: 'words' };
  assert.equal((await runProgram('sh', ['-c', script], options)).stdout, 'C more words');
  assert.equal((await runProgram('cat', [])).stdout, '');
});

test('a program that is not there, hangs, floods or is killed is a result and no rejection', async () => {
  const missing = await runProgram('latchkey-no-such-program', []);
  assert.deepEqual(missing, {
    code: null,
    stdout: '',
    stderr: '',
    fault: 'latchkey-no-such-program is not on this machine.',
    isMissing: true,
  });
  const late = await runProgram('sleep', ['60'], { timeoutMs: 100 });
  assert.equal(late.fault, 'sleep did not end within 0.1 seconds.');
  assert.deepEqual([late.code, late.isMissing], [null, false]);
  const flood = await runProgram('sh', ['-c', 'exec yes']);
  assert.equal(flood.fault, 'sh printed too much.');
  const killed = await runProgram('sh', ['-c', 'kill -TERM $$']);
  assert.equal(killed.fault, 'sh was ended by SIGTERM.');
});

test('what a program that hangs has started does not hold it up', async () => {
  const late = await runProgram('sh', ['-c', 'sleep 5 & sleep 5'], { timeoutMs: 100 });
  assert.equal(late.fault, 'sh did not end within 0.1 seconds.');
});
