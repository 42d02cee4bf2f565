import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../../test/harness.ts';
import { jobDefinitions } from './job-definitions.ts';
import { createTasks } from './tasks.ts';

test('every kind of job is done by one task', async () => {
  const { ctx } = await startTestService();
  const names = createTasks(ctx).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), Object.keys(jobDefinitions).toSorted());
});
