import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { type Panel, shortenPanels } from './layout.ts';
import { renderLines } from './terminal.ts';
import { drawScreen, type Size } from './screen.ts';
import { lineWidth, span } from './text.ts';
import { addMessage, emptyView, type View } from './view.ts';

const hello = {
  type: 'hello',
  schema_version: 1,
  agent_version: '1.0.0',
  interval_seconds: 1,
  host: exampleHost,
  history: [0, 0.5, 1].map((ratio, at) => ({
    time: `2026-11-21T02:44:2${at}Z`,
    cpu_usage_ratio: ratio,
    receive_bytes_per_second: ratio * 100_000,
  })),
} as const;

function viewOf(snapshot: View['snapshot']): View {
  const greeted = addMessage(emptyView('db-1:4096'), {
    kind: 'hello',
    hello: { ...hello, history: [...hello.history] },
  });
  return snapshot === null ? greeted : addMessage(greeted, { kind: 'snapshot', snapshot });
}

function draw(view: View, columns: number, rows: number): string[] {
  return renderLines(drawScreen(view, { columns, rows }), false).map((line) => line.trimEnd());
}

test('shows the most important figures in a small terminal', () => {
  assert.deepEqual(draw(viewOf(exampleSnapshot), 40, 12), [
    'db-1  up 1 d 2 h  Debian GNU/Lin… ● live',
    'CPU      █▌····  25 %               ▁▄█▂',
    '         user 20 %  system 5.0 %  disk …',
    'Memory   ██▎···  38 %  2.93 KiB/7.81 KiB',
    'Swap     █▌····  25 %  25 B of 100 B',
    'BAT0     ████▊·  80 %  discharging',
    'Load     0.50  0.25  0.10  75 processes',
    'Pressure disks 1.0 %',
    'Network  ↓ 2.05 kB/s     ↑ 4.10 kB/s',
    'Disks    r 512 B/s       w 1.02 kB/s',
    '',
    '',
  ]);
});

test('shows the history before the first snapshot', () => {
  assert.deepEqual(draw(viewOf(null), 40, 12), [
    'db-1  Debian GNU/Linux 12 (bookw… ● live',
    '',
    'CPU  max 100 %',
    '                                       █',
    '                                      ▄█',
    '                                     ▁██',
    '',
    'Received  max 100 kB/s',
    '                                       █',
    '                                       █',
    '                                      ██',
    '                                     ▁██',
  ]);
});

test('shows more parts and charts with more room', () => {
  assert.deepEqual(draw(viewOf(exampleSnapshot), 80, 24), [
    'db-1  up 1 d 2 h  Debian GNU/Linux 12 (bookworm)                          ● live',
    'CPU      ██████▌···················  25 %                                   ▁▄█▂',
    '         user 20 %  system 5.0 %  disk 0 %  steal 0 %',
    'Memory   █████████▊················  38 %  2.93 KiB of 7.81 KiB',
    'Swap     ██████▌···················  25 %  25 B of 100 B',
    'BAT0     ████████████████████▊·····  80 %  discharging',
    'Load     0.50  0.25  0.10  75 processes',
    'Pressure disks 1.0 %',
    'Network  ↓ 2.05 kB/s                   ▁▄█▁  ↑ 4.10 kB/s                      ▂',
    'Disks    r 512 B/s                        ▁  w 1.02 kB/s                      ▁',
    '',
    'Filesystem                                                   used   free    size',
    '/nfs                                              ········  hangs      –       –',
    '/                                                 ███▍····   42 %  550 B  1000 B',
    '',
    'Interface                                               received  sent      kind',
    'eth0                                                           –     –  physical',
    '',
    'Disk                                 read    written  busy  r latency  w latency',
    'sda                               512 B/s  1.02 kB/s     –          –          –',
    'dm-0                              512 B/s  1.02 kB/s     –          –          –',
    '',
    '',
    'q quit   db-1:4096   agent 1.0.0, every 1 s',
  ]);
});

test('uses columns in a wide terminal', () => {
  assert.deepEqual(draw(viewOf(exampleSnapshot), 110, 16), [
    'db-1  up 1 d 2 h  Debian GNU/Linux 12 (bookworm)                                                        ● live',
    'CPU      ███·········  25 %                      ▁▄█▂   Filesystem                        used   free    size',
    '         user 20 %  system 5.0 %  disk 0 %  steal 0 %   /nfs                   ········  hangs      –       –',
    'Memory   ████▌·······  38 %  2.93 KiB of 7.81 KiB       /                      ███▍····   42 %  550 B  1000 B',
    'Swap     ███·········  25 %  25 B of 100 B',
    'BAT0     █████████▋··  80 %  discharging                Interface                    received  sent      kind',
    'Load     0.50  0.25  0.10  75 processes                 eth0                                –     –  physical',
    'Pressure disks 1.0 %',
    'Network  ↓ 2.05 kB/s      ▁▄█▁  ↑ 4.10 kB/s         ▂   Disk                 read    written  busy  r latency',
    'Disks    r 512 B/s           ▁  w 1.02 kB/s         ▁   sda               512 B/s  1.02 kB/s     –          –',
    '                                                        dm-0              512 B/s  1.02 kB/s     –          –',
    'Temperature                             now  critical',
    'coretemp Package id 0                 51 °C    100 °C   Fan                                               rpm',
    'nvme.0/temp1                       -2.50 °C         –   it87.0/fan1                                       900',
    '',
    'q quit   db-1:4096   agent 1.0.0, every 1 s',
  ]);
});

test('leaves out what the machine lacks', () => {
  assert.deepEqual(draw(viewOf({ time: '2026-11-21T02:44:25Z' }), 60, 4), [
    'db-1  Debian GNU/Linux 12 (bookworm)                  ● live',
    '',
    '',
    '',
  ]);
});

test('names failing disks', () => {
  const { time } = exampleSnapshot;
  const flags = { prefail_now: true, prefail_past: true, error_log: true, self_test_failed: false };
  const toDisk = (device: string, failing: boolean) => ({
    device,
    read_at: time,
    failing,
    ...flags,
  });
  const disks = [
    toDisk('sda', true),
    toDisk('sdb', false),
    { ...toDisk('sdc', false), passed: false },
  ];
  const lines = draw(viewOf({ time, disk_health: disks }), 80, 24);
  assert.equal(lines.includes('Failing  sda, sdc'), true);
});

test('shows the reason of a lost connection in each size', () => {
  const view = viewOf(exampleSnapshot);
  const lost: View = { ...view, state: { kind: 'waiting', seconds: 8, why: 'Nothing listens.' } };
  const [header = '', ...others] = draw(lost, 40, 12);
  assert.deepEqual(
    [header, others.at(-1)],
    ['db-1  up 1 d 2 h  Debian… ○ retry in 8 s', 'Nothing listens.'],
  );
  const silent: View = { ...view, state: { kind: 'silent', seconds: 5 } };
  assert.match(draw(silent, 60, 12)[0] ?? '', / ● silent for 5 s$/u);
  assert.match(draw(emptyView('db-1:4096'), 40, 12)[0] ?? '', /^db-1:4096 +○ connecting$/u);
});

test('fills every size without overflow', () => {
  const wild = {
    ...exampleSnapshot,
    memory: { ...exampleSnapshot.memory, usage_ratio: -7, used_bytes: 1e300, total_bytes: -1 },
    units: { failed: ['漢字'.repeat(90), 'e\u0301'.repeat(90)] },
    containers: Array.from({ length: 300 }, (_, at) => ({ id: `${at}`, runtime: 'docker' })),
  };
  const sizes: Size[] = [1, 2, 7, 20, 39, 54, 80, 107, 163, 400].flatMap((columns) =>
    [1, 2, 5, 12, 16, 24, 60, 130].map((rows) => ({ columns, rows })),
  );
  for (const view of [viewOf(null), viewOf(exampleSnapshot), viewOf(Object(wild))]) {
    for (const size of sizes) {
      const lines = drawScreen(view, size);
      assert.equal(lines.length, size.rows, JSON.stringify(size));
      assert.deepEqual(new Set(lines.map(lineWidth)), new Set([size.columns]));
    }
  }
});

test('uses the colours of the terminal, if it has any', () => {
  const [line = []] = drawScreen(viewOf(null), { columns: 20, rows: 1 });
  assert.deepEqual(renderLines([line], true), [
    '\u001b[1mdb-1\u001b[22m\u001b[2m  Debian…\u001b[22m \u001b[32m● live\u001b[39m',
  ]);
});

function panelOf(length: number): Panel {
  return Array.from({ length }, (_, at) => [span(`${at}`)]);
}

test('assigns the rows of dropped panels to the others', () => {
  const shown = shortenPanels([3, 6, 8, 8].map(panelOf), 15);
  assert.deepEqual(
    shown.map((panel) => panel.map(([first]) => first?.text)),
    [
      ['0', '1', '2'],
      ['0', '1', '2', '3', '4', '5'],
      ['0', '1', '2', '3', '4', '… 3 more'],
    ],
  );
});
