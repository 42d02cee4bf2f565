import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FaultWindow } from '../expectations/expectations.ts';
import { diskFull } from '../faults/disk-faults.ts';
import { Recorder } from '../load/recorder.ts';
import { readOptions } from '../options.ts';
import { renderPage } from './page.ts';
import type { SoakReport } from './report.ts';

const CREATED_AT = new Date('2027-05-01T12:00:00Z');

/** A minute with one validation, one refused event batch, and one fault. */
function createReport(change: Partial<SoakReport> = {}): SoakReport {
  const options = readOptions(['--small', '--minutes', '1']);
  assert.ok(options !== null);
  const recorder = new Recorder(0, 60_000);
  recorder.record({
    operation: 'validate',
    outcome: '200',
    dueAt: 1_000,
    sentAt: 1_000,
    endedAt: 1_012,
  });
  recorder.record({
    operation: 'events',
    outcome: '503 storage_low',
    dueAt: 2_000,
    sentAt: 2_000,
    endedAt: 2_001,
  });
  const window: FaultWindow = {
    fault: diskFull,
    from: 1_500,
    interruptions: 1,
    causeEndedAt: 9_500,
    recoveredAt: 11_000,
    lastUnusualAt: 11_000,
    outcomes: new Map([['503 storage_low', 1]]),
  };
  const sample = { memoryMib: 123, databaseMib: 45, walMib: null };
  const samples = [{ atSeconds: 1, ...sample, batchSizes: new Map([['license_validations', 7]]) }];
  return {
    options,
    day: {
      recorder,
      samples,
      startedAt: 0,
      endedAt: 60_000,
      planned: 1_000,
      unsent: 2,
      loadShare: 0.123,
      faults: [diskFull],
      skipped: [{ name: 'worker killed', reason: 'the service runs without workers' }],
    },
    checks: [{ promise: 'Every event is stored', compared: 1_234, problems: [] }],
    broken: [],
    verdict: 'kept',
    windows: [window],
    ...change,
  };
}

/** Returns the text that a reader sees, without styles. */
function readText(page: string): string {
  return page
    .replace(/<style>.*?<\/style>/su, '')
    .replaceAll(/<[^>]+>/gu, ' ')
    .replaceAll(/\s+/gu, ' ');
}

test('is one document without scripts and without addresses of other files', () => {
  const page = renderPage(createReport(), CREATED_AT);
  assert.match(page, /^<!doctype html>/u);
  assert.doesNotMatch(page, /<script|<link|<img|src=|href=|url\(|@import|https?:/u);
  assert.match(page, /prefers-color-scheme: dark/u);
});

test('shows the verdict, the checks, the faults and the operations', () => {
  const text = readText(renderPage(createReport(), CREATED_AT));
  for (const part of [
    'Every promise was kept.',
    'Every event is stored 1,234',
    'disk full Fills the file system',
    '503 storage_low: 1 allowed: 503 storage_low, 503 database_unavailable, 503 overloaded, message not sent, message unknown 8.0 s ✔ 1.5 s of 30.0 s',
    'worker killed : the service runs without workers',
    'validate 200: 1 12.8 12.8 12.8',
    'license validations up to 7',
    'service up to 123',
    'Created 2027-05-01 12:00 UTC',
    'activate none',
    'Behind plan up to 0.0 s',
    'Not sent 2 of 1,000 (0.2 %)',
    'Load generator 12 % of a core',
  ]) {
    assert.ok(text.includes(part), `${part} is not in: ${text}`);
  }
});

test('shows broken promises, with their text escaped', () => {
  const broken = ['<b>5 machines</b> & more'];
  const page = renderPage(createReport({ broken, verdict: 'broken' }), CREATED_AT);
  assert.match(page, /Promises were broken:/u);
  assert.match(page, /<li>&lt;b&gt;5 machines&lt;\/b&gt; &amp; more<\/li>/u);
});

test('a run that was stopped says that nothing was compared', () => {
  const text = readText(renderPage(createReport({ checks: [], verdict: 'stopped' }), CREATED_AT));
  assert.match(text, /Stopped before the end of the day; nothing was compared\./u);
});

test('a day of which too little was sent is not shown as kept', () => {
  const text = readText(renderPage(createReport({ verdict: 'incomplete' }), CREATED_AT));
  assert.match(text, /✖ No promise was broken, but too little was sent to prove them/u);
  assert.doesNotMatch(text, /Every promise was kept/u);
});
