/** The files of the console at `/console`. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { startTestService } from '../harness.ts';
import { createTestOperator } from '../operator-steps.ts';

const service = await startTestService();

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(service.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('without an operator', () => {
  test('names the command that creates one, and has no script', async () => {
    const { status, headers, text } = await get('/console');
    assert.equal(status, 200);
    assert.match(text, /npx latchkey operator create EMAIL/);
    assert.doesNotMatch(text, /<script/);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });
});

describe('with an operator', () => {
  before(() => createTestOperator(service));

  test('sends the same document for every page, with a policy without anything inline', async () => {
    const { status, headers, text } = await get('/console');
    assert.equal(status, 200);
    assert.deepEqual(
      [
        'content-type',
        'cache-control',
        'content-security-policy',
        'cross-origin-opener-policy',
        'cross-origin-resource-policy',
        'referrer-policy',
        'x-content-type-options',
        'x-frame-options',
      ].map((name) => headers.get(name)),
      [
        'text/html; charset=utf-8',
        'no-store',
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        'same-origin',
        'same-origin',
        'no-referrer',
        'nosniff',
        'DENY',
      ],
    );
    assert.doesNotMatch(text, /<style|<script(?![^>]* src=)| on\w+=| style=/);
    for (const path of ['/console/', '/console/licenses/1?tab=machines', '/console/welcome']) {
      assert.equal((await get(path)).text, text, path);
    }
  });

  test('sends hashed files that browsers keep, in the encoding that they accept', async () => {
    const { text } = await get('/console');
    const paths = Array.from(
      text.matchAll(/(?:href|src)="(?<path>[^"]+)"/g),
      ([, path = '']) => path,
    );
    assert.ok(paths.length >= 3);
    for (const path of paths) {
      assert.match(path, /^\/console\/assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg)$/);
      const plain = await get(path, { 'accept-encoding': 'identity' });
      assert.equal(plain.status, 200, path);
      assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(plain.headers.get('vary'), 'Accept-Encoding');
      assert.equal(plain.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(plain.headers.get('content-encoding'), null);
      for (const encoding of ['br', 'gzip']) {
        const packed = await get(path, { 'accept-encoding': `${encoding}, deflate` });
        assert.equal(packed.headers.get('content-encoding'), encoding);
        assert.equal(packed.text, plain.text);
      }
    }
  });

  test('answers 404 for every other file, and never reads one by its path', async () => {
    for (const path of [
      '/console/assets/',
      '/console/assets/none.js',
      '/console/assets/a/b.js',
      '/console/assets/..%2f..%2fpackage.json',
      '/console/assets/%2e%2e%2f%2e%2e%2fpackage.json',
      '/console/assets/..%5c..%5cpackage.json',
      '/console/assets/__proto__',
      '/console/assets/constructor',
    ]) {
      const { status, headers } = await get(path);
      assert.equal(status, 404, path);
      assert.match(headers.get('content-type') ?? '', /problem\+json/, path);
    }
  });

  test('answers 405 to other methods', async () => {
    const response = await fetch(`${service.url}/console`, { method: 'POST' });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'OPTIONS, GET, HEAD']);
  });

  test('HEAD answers with the headers alone', async () => {
    const response = await fetch(`${service.url}/console`, { method: 'HEAD' });
    assert.deepEqual([response.status, await response.text()], [200, '']);
  });
});
