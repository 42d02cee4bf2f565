import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { runProgram } from './run-program.ts';

const OWN_SESSION = { hasOwnSession: true };

test('returns exit code and output', async () => {
  const result = await runProgram('sh', ['-c', 'echo "$1"; echo no >&2; exit 3', 'sh', 'a b;c']);
  assert.deepEqual(result, {
    code: 3,
    stdout: 'a b;c\n',
    stderr: 'no\n',
    fault: null,
    isMissing: false,
  });
});

test('runs a program in English with the given input, without a terminal', async () => {
  const script = 'printf "%s %s " "$LC_ALL" "$EXTRA"; cat';
  const options = { environment: { EXTRA: 'more' }, input: 'words' };
  assert.equal((await runProgram('sh', ['-c', script], options)).stdout, 'C more words');
  assert.equal((await runProgram('cat', [])).stdout, '');
  const { stdout } = await runProgram('sh', ['-c', 'echo "$PATH"']);
  for (const place of ['/usr/sbin', '/snap/bin'])
    assert.ok(stdout.trim().split(':').includes(place));
});

test('returns a result for a missing, hanging, flooding or killed program', async () => {
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

test('runs a program in its own session without a controlling terminal', async () => {
  const read = ['-c', 'read -r _ _ _ _ group session _ </proc/$$/stat; echo "$group $session $$"'];
  const [inherited, isolated] = [
    await runProgram('sh', read),
    await runProgram('sh', read, OWN_SESSION),
  ];
  const [group, session, id] = inherited.stdout.trim().split(' ');
  assert.ok(group !== id && session !== id, inherited.stdout);
  assert.match(isolated.stdout, /^(\d+) \1 \1\n$/u);
  const missing = await runProgram('latchkey-no-such-program', [], OWN_SESSION);
  assert.equal(missing.fault, 'latchkey-no-such-program is not on this machine.');
  assert.deepEqual([missing.code, missing.isMissing], [null, true]);
  assert.equal((await runProgram('sh', ['-c', 'exit 127'], OWN_SESSION)).code, 127);
  const late = await runProgram('sleep', ['60'], { timeoutMs: 100, ...OWN_SESSION });
  assert.equal(late.fault, 'sleep did not end within 0.1 seconds.');
});

test('restarts a program that Ctrl-C killed before it had its own session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-agent-session-'));
  // A signal during the start ends the program.
  const script = 'mkdir "$1/hit" 2>/dev/null && kill -INT $$; echo done';
  const { stdout, code } = await runProgram('sh', ['-c', script, 'sh', folder], OWN_SESSION);
  assert.deepEqual([stdout, code], ['done\n', 0]);
  rmSync(folder, { recursive: true });
});

test('does not wait for the children of a hanging program', async () => {
  const late = await runProgram('sh', ['-c', 'sleep 5 & sleep 5'], { timeoutMs: 100 });
  assert.equal(late.fault, 'sh did not end within 0.1 seconds.');
});
