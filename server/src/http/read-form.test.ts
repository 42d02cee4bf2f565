import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readForm } from './read-form.ts';

const urlencoded = 'application/x-www-form-urlencoded';

test('reads a form', async () => {
  const fields = await readForm(urlencoded, Buffer.from('key=LK-1+2%26&other='));
  assert.deepEqual(
    [...fields],
    [
      ['key', 'LK-1 2&'],
      ['other', ''],
    ],
  );
});

test('reads a form in parts, and a file as its text', async () => {
  const form = new FormData();
  form.set('request', '');
  form.set('file', new File(['LKR1.x'], 'request.txt'));
  const response = new Response(form);
  const body = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  assert.deepEqual(
    [...(await readForm(type, body))],
    [
      ['request', ''],
      ['file', 'LKR1.x'],
    ],
  );
});

test('removes characters that a database does not store', async () => {
  const fields = await readForm(urlencoded, Buffer.from('key=a%00b'));
  assert.equal(fields.get('key'), 'ab');
});

test('a body that is empty has no fields', async () => {
  assert.equal((await readForm(undefined, undefined)).size, 0);
});

for (const [name, type, body] of [
  ['another type', 'application/json', '{}'],
  ['no type', undefined, 'key=1'],
  ['broken parts', 'multipart/form-data; boundary=b', '--b\r\nno header'],
] as const) {
  test(`refuses ${name}`, async () => {
    await assert.rejects(readForm(type, Buffer.from(body)), { code: 'bad_request' });
  });
}
