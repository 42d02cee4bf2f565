import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLog } from './log.ts';
import type { Logger } from './log.ts';
import { scrub } from './log-scrub.ts';
import { formatForTerminal } from './log-terminal.ts';

const licenseKey = 'LK-7F3KQ-9XW2M-4TB8N-0HJ5R-6VCZA';

/** Creates a log and records its lines. */
function captureLog(): { log: Logger; lines: string[]; entry: () => Record<string, unknown> } {
  const lines: string[] = [];
  const log = createLog({ level: 'trace', destination: { write: (line) => lines.push(line) } });
  return { log, lines, entry: () => JSON.parse(lines.at(-1) ?? '') };
}

test('a line is a JSON object with level, time in UTC and message, without the host', () => {
  const { log, entry } = captureLog();
  log.info({ port: 8080 }, 'listening');
  const { time, ...rest } = entry();
  assert.deepEqual(rest, { level: 'info', port: 8080, msg: 'listening' });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
});

test('fields that hold keys, addresses, fingerprints and secrets are hidden, nested ones too', () => {
  const { log, entry } = captureLog();
  log.info({
    licenseKey: 'custom format',
    request: { headers: { 'x-api-key': 'abc', 'billing-signature': 'ts=1' }, email: 'me' },
    machine_fingerprint: { machine_id: 'm-1' },
  });
  const { time: _, ...rest } = entry();
  assert.deepEqual(rest, {
    level: 'info',
    licenseKey: '[hidden]',
    request: {
      headers: { 'x-api-key': '[hidden]', 'billing-signature': '[hidden]' },
      email: '[hidden]',
    },
    machine_fingerprint: '[hidden]',
  });
});

test('removes keys, tokens, addresses and passwords from any text', () => {
  const cases = [
    [`unknown ${licenseKey}.`, 'unknown [license key].'],
    [`unknown ${licenseKey.toLowerCase()}`, 'unknown [license key]'],
    ['key lk_0123456789abcdefABCDEF0123456789 used', 'key [api key] used'],
    ['Key (email)=(ann.lee+x@mail.example.com) exists', 'Key (email)=([e-mail]) exists'],
    ['postgres://app:s3cret@db:5432/x', 'postgres://[credentials]@db:5432/x'],
    ['token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln', 'token [token]'],
    ['ts=1;h1=28981e941fae76e53db32f3d2a83cb69', 'ts=1;h1=[signature]'],
  ];
  for (const [text = '', scrubbed] of cases) assert.equal(scrub(text), scrubbed);
});

test('removes secrets beside each other, and after long text', () => {
  const token = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln';
  const cases = [
    ['a@example.com,b@example.com', '[e-mail],[e-mail]'],
    ['a@b@example.com.', 'a@[e-mail].'],
    [`${'-eyJ'.repeat(50_000)} ${token}.`, `${'-eyJ'.repeat(50_000)} [token].`],
    [`${token}.${token}`, '[token].[token]'],
    [`${'a'.repeat(100)}@example.com`, '[e-mail]'],
    [`x_${licenseKey}`, 'x_[license key]'],
  ];
  for (const [text = '', scrubbed] of cases) assert.equal(scrub(text), scrubbed);
});

test('keeps other text: versions in paths, UUIDs, times', () => {
  const text =
    'at /app/node_modules/pg@8.23.1/lib/client.js:3 01890a5d-ac96-774b-bcce-b302099a8057';
  assert.equal(scrub(text), text);
});

test('a scrubbed line is valid JSON for any text before the secret', () => {
  const secrets = fc.constantFrom('ann@example.com', licenseKey, 'postgres://u:p@h/d');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), secrets, fc.string(), (before, secret, after) => {
      const { log, lines } = captureLog();
      log.info(`${before}${secret}${after}`);
      log.info(`${before}\n${secret}\n${after}`);
      for (const line of lines) JSON.parse(line);
      assert.equal(lines.join('').includes(`\\n${secret}\\n`), false);
    }),
  );
});

test('an error is logged with class, code and its causes, and without the values that a database error quotes', () => {
  const { log, entry } = captureLog();
  const refused = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: 'Key (a)=(b)',
  });
  log.error({ err: new TypeError('cannot save', { cause: refused }) }, 'failed');
  const error = JSON.stringify(entry()['err']);
  assert.match(error, /"type":"TypeError","message":"cannot save"/u);
  assert.match(error, /"cause":\{"type":"Error","message":"duplicate key","code":"23505"/u);
  assert.doesNotMatch(error, /Key \(a\)/u);
});

test('logs an error that is its own cause', () => {
  const { log, lines } = captureLog();
  const error = new Error('round');
  error.cause = error;
  log.error({ err: error });
  assert.equal(lines.join('').split('"message":"round"').length - 1, 6);
});

test('on a terminal a line has the time of day, the level, the message and the fields', () => {
  const line =
    '{"level":"info","time":"2026-01-02T03:04:05.678Z","port":8080,"name":"a b","msg":"up"}\n';
  assert.equal(formatForTerminal(line, false), '03:04:05.678 INFO  up port=8080 name="a b"\n');
  const list =
    '{"level":"info","time":"2026-01-02T03:04:05.678Z","some":[1,2,3,4],"many":["a","b","c","d","e"],"msg":"up"}\n';
  assert.equal(
    formatForTerminal(list, false),
    '03:04:05.678 INFO  up some=[1,2,3,4] many=a … e (5)\n',
  );
  const failed =
    '{"level":"error","time":"2026-01-02T03:04:05.678Z","err":{"stack":"E: x\\n at y"},"msg":"no"}';
  assert.equal(formatForTerminal(failed, false), '03:04:05.678 ERROR no\n  E: x\n   at y\n');
  assert.equal(formatForTerminal('not JSON\n', true), 'not JSON\n');
});
