import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LicenseTimelineItem } from '@latchkey/contract';

import { groupRawEvents } from './group-raw-events.ts';

function item(kind: LicenseTimelineItem['kind'], id: string): LicenseTimelineItem {
  const occurredAt = '2026-11-20T10:00:00.000Z';
  return { id, kind, code: 'x', occurred_at: occurredAt, actor: null, reason: null, details: {} };
}

test('raw events of one kind that follow one another become one group', () => {
  const items = [
    item('webhook', '1'),
    item('webhook', '2'),
    item('payment', '3'),
    item('audit', '4'),
    item('audit', '5'),
    item('payment', '6'),
    item('payment', '7'),
  ];
  assert.deepEqual(
    groupRawEvents(items).map((group) => group.items.map(({ id }) => id)),
    [['1', '2'], ['3'], ['4'], ['5'], ['6', '7']],
  );
});

test('nothing has no group', () => {
  assert.deepEqual(groupRawEvents([]), []);
});
