import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { tidyMemory } from './tidy-memory.ts';

/** Out of reach for everybody but the reference, once the turn is over. */
function makeGarbage(): WeakRef<object> {
  return new WeakRef({ text: 'garbage' });
}

test('tidying leaves no garbage where V8 is asked for it, and does nothing elsewhere', async () => {
  const garbage = makeGarbage();
  await setTimeout();
  tidyMemory();
  assert.notEqual(garbage.deref(), undefined);
  setFlagsFromString('--expose-gc');
  globalThis.gc = runInNewContext('gc');
  await setTimeout();
  tidyMemory();
  assert.equal(garbage.deref(), undefined);
});
