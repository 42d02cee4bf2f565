import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Context } from '#server/context.ts';

import { jobDefinitions } from './job-definitions.ts';
import { createTasks } from './tasks.ts';

test('every kind of job is done by one task', () => {
  // What a task does is asked of it only when it runs.
  const noContext: Context = Object.create(null);
  const names = createTasks(noContext).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), Object.keys(jobDefinitions).toSorted());
});
