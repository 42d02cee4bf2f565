import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { readMessage } from '../watch/read-message.ts';
import { renderLines } from '../watch/terminal.ts';
import { drawScreen } from '../watch/screen.ts';
import { addMessage, emptyView } from '../watch/view.ts';
import { formatSnapshot } from './snapshot-table.ts';

test('ignores unknown problems of a Raspberry Pi', () => {
  const well = { now: false, since_boot: false };
  const snapshot = {
    ...exampleSnapshot,
    raspberry_pi: {
      under_voltage: { now: true, since_boot: true },
      frequency_capped: well,
      throttled: { now: true, since_boot: true },
      soft_temperature_limit: well,
      '\u001b]0;evil\u0007': { now: true },
      nothing: null,
    },
  };
  const message = readMessage(JSON.stringify({ type: 'snapshot', snapshot }));
  assert.ok(message?.kind === 'snapshot');
  const table = formatSnapshot(exampleHost, message.snapshot);
  assert.match(table, /^Raspberry Pi +under voltage, throttled$/mu);
  assert.doesNotMatch(table, /evil/u);
  const view = addMessage(emptyView('db-1:4096'), message);
  const screen = renderLines(drawScreen(view, { columns: 80, rows: 40 }), false).join('\n');
  assert.match(screen, /^Pi +under voltage, throttled *$/mu);
  assert.doesNotMatch(screen, /evil/u);
});
