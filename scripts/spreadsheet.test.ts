/** Runs the script of docs/integrations/spreadsheet.md unchanged, with a fake sheet. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { startOutreachService } from '../server/test/outreach-steps.ts';
import { DAY_MS } from '../server/test/test-clock.ts';
import { repository } from './lib/steps.ts';

const document = readFileSync(join(repository, 'docs/integrations/spreadsheet.md'), 'utf8');
const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(document) ?? [];

/**
 * A fake of the Google services that the script uses. It runs in a worker thread, so that a synchronous request, as at Google,
 * blocks the script and not the service.
 */
const GOOGLE = `
const { execFileSync } = require('node:child_process');
const { parentPort, workerData } = require('node:worker_threads');
const vm = require('node:vm');
const { rows, properties, entry, failAfter, now } = workerData;
let requests = 0;
const toRange = (row, column, height, width) => ({
  getValues: () => rows.slice(row - 1, row - 1 + height).map((each) => each.slice(column - 1, column - 1 + width)),
  setValues: (values) => values.forEach((each, index) => rows[row - 1 + index].splice(column - 1, width, ...each)),
});
const sheet = { getLastRow: () => rows.length, getRange: toRange };
const FETCH = \`
  let input = '';
  process.stdin.on('data', (data) => (input += data)).on('end', async () => {
    const { url, options } = JSON.parse(input);
    const { contentType, payload, headers, method } = options;
    const response = await fetch(url, { method, headers: { 'content-type': contentType, ...headers }, body: payload });
    process.stdout.write(JSON.stringify({ status: response.status, text: await response.text() }));
  });\`;
const sandbox = {
  SpreadsheetApp: {
    getActive: () => ({ getSheetByName: () => sheet, getId: () => 'sheet-1' }),
    flush: () => {},
  },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => properties[name] }) },
  LockService: { getDocumentLock: () => ({ tryLock: () => true, releaseLock: () => {} }) },
  Utilities: { sleep: () => {} },
  UrlFetchApp: {
    fetch(url, options) {
      const input = JSON.stringify({ url, options });
      const { status, text } = JSON.parse(execFileSync(process.execPath, ['-e', FETCH], { input }));
      if (++requests === failAfter) throw new Error('Address unavailable');
      return { getResponseCode: () => status, getContentText: () => text };
    },
  },
};
vm.createContext(sandbox);
if (now !== undefined) vm.runInContext('Date.now = () => ' + now, sandbox);
vm.runInContext(workerData.script, sandbox);
let error = null;
try {
  vm.runInContext(entry + '()', sandbox);
} catch (thrown) {
  error = thrown.message;
}
parentPort.postMessage({ rows, error });
`;

type Row = (string | number)[];

const Run = Type.Object({
  rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Number()]))),
  error: Type.Union([Type.String(), Type.Null()]),
});

interface RunOptions {
  readonly entry?: 'sendMessages' | 'retryFailed';
  /** The number of the request whose answer is lost, from 1. */
  readonly failAfter?: number;
  readonly now?: number;
}

const outreach = await startOutreachService({
  script: {
    forRecipient: (address) =>
      address.startsWith('gone') ? { recipient: { code: 550, words: '5.1.1 gone' } } : undefined,
  },
});

async function runScript(rows: readonly Row[], options: RunOptions = {}) {
  const { service, apiKey } = outreach;
  const properties = { SERVICE_URL: `${service.url}/`, OUTREACH_KEY: apiKey };
  const workerData = { script, rows, properties, entry: 'sendMessages', ...options };
  const worker = new Worker(GOOGLE, { eval: true, workerData });
  const [message]: unknown[] = await once(worker, 'message');
  return Parse(Run, message);
}

const HEADER = ['email', 'name', 'result', 'error', 'message_id', 'request'];

const toSheet = (people: readonly (readonly [email: string, name: string | number])[]): Row[] => [
  HEADER,
  ...people.map(([email, name]) => [email, name, '', '', '', '']),
];

const createSheet = (count: number) =>
  toSheet(Array.from({ length: count }, (_, index) => [`p${index}@sheet.example`, `P ${index}`]));

const columns = (rows: readonly Row[], ...names: string[]) =>
  rows.slice(1).map((row) => names.map((name) => row[HEADER.indexOf(name)]));

async function recipientsDuring(work: () => Promise<unknown>): Promise<(string | undefined)[]> {
  const before = outreach.relay.mails.length;
  await work();
  return outreach.relay.mails.slice(before).map(({ to }) => to[0]);
}

test('writes the result of each row, and skips empty rows', async () => {
  const sheet = toSheet([
    ['ada@sheet.example', 'Ada'],
    ['gone@sheet.example', ''],
    ['', ''],
    ['not an address', 'Nobody'],
    ['ada@sheet.example', 7],
  ]);
  const mailed = await recipientsDuring(async () => {
    const { rows, error } = await runScript(sheet);
    assert.equal(error, null);
    assert.deepEqual(columns(rows, 'result', 'error'), [
      ['sent', ''],
      ['failed', 'smtp_550: 5.1.1 gone'],
      ['', ''],
      ['failed', 'value is not a valid email address: An email address must have an @-sign.'],
      ['failed', 'duplicate'],
    ]);
    assert.match(String(rows[1]?.[4]), /^<outreach-/u);
    // A second run sends nothing.
    assert.deepEqual(await runScript(rows), { rows, error: null });
  });
  assert.deepEqual(mailed, ['ada@sheet.example']);
});

test('resumes an interrupted run without mailing anybody twice', async () => {
  const mailed = await recipientsDuring(async () => {
    const broken = await runScript(createSheet(450), { failAfter: 2 });
    assert.equal(broken.error, 'Address unavailable');
    const results = columns(broken.rows, 'result').flat();
    assert.deepEqual([results[199], results[200], results[449]], ['sent', '', '']);
    const { rows, error } = await runScript(broken.rows);
    assert.equal(error, null);
    assert.deepEqual(new Set(columns(rows, 'result').flat()), new Set(['sent']));
    assert.equal(new Set(columns(rows, 'request').flat()).size, 3);
  });
  assert.deepEqual([mailed.length, new Set(mailed).size], [450, 450]);
});

test('does not send interrupted rows that were changed or are a day old', async () => {
  const broken = await runScript(createSheet(2), { failAfter: 1 });
  const changed = broken.rows.map((row, index) =>
    index === 1 ? ['other@sheet.example', ...row.slice(1)] : row,
  );
  const mailed = await recipientsDuring(async () => {
    const refused = await runScript(changed);
    assert.match(refused.error ?? '', /409.*idempotency_key_reused/u);
    assert.deepEqual(refused.rows, changed);
    const late = await runScript(broken.rows, { now: Date.now() + DAY_MS });
    assert.deepEqual(columns(late.rows, 'result', 'error'), [
      ['failed', 'unknown'],
      ['failed', 'unknown'],
    ]);
  });
  assert.deepEqual(mailed, []);
});

test('retries temporary failures only', async () => {
  const done = createSheet(4).map((row, index) =>
    index === 0
      ? row
      : [
          ...row.slice(0, 2),
          'failed',
          ['deadline', 'unknown', 'suppressed', 'smtp_451: later'][index - 1] ?? '',
          '',
          'k',
        ],
  );
  const mailed = await recipientsDuring(async () => {
    const { rows, error } = await runScript(done, { entry: 'retryFailed' });
    assert.equal(error, null);
    assert.deepEqual(columns(rows, 'result', 'error'), [
      ['sent', ''],
      ['failed', 'unknown'],
      ['failed', 'suppressed'],
      ['sent', ''],
    ]);
  });
  assert.equal(mailed.length, 2);
  assert.deepEqual(new Set(mailed), new Set(['p0@sheet.example', 'p3@sheet.example']));
});
