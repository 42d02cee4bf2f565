import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AgentHello, AgentSnapshot } from '@latchkey/contract';

import { toShape } from '../../test/schema-shape.ts';
import { HELLO_SHAPE, SNAPSHOT_SHAPE } from './wire-shapes.ts';

test('messages are held to what the contract says', () => {
  assert.deepEqual(HELLO_SHAPE, toShape(AgentHello));
  assert.deepEqual(SNAPSHOT_SHAPE, toShape(AgentSnapshot));
});
