import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { sendRequest, openStream } from '../../test/stream-harness.ts';
import { openAccessTokens } from '../stream/admission.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';

const TOKEN = 'correct-horse-battery-staple';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(
  port: number,
  headers: Record<string, string> = {},
  { method = 'GET', path = '/' } = {},
): Promise<Answer> {
  const options = { host: '127.0.0.1', port, path, method, headers, agent: false };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.once('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, body: Buffer.concat(chunks) });
      });
    });
    sent.once('error', reject).end();
  });
}

describe('the pages over HTTP', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const tls = readTlsMaterial({ ...root.issueServer(), clients: null });
  const tokens = {
    readRules: () => ({ isToken: openAccessTokens([TOKEN]), allowedOrigins: new Set<string>() }),
  };

  test('the live page is one document that cannot load or be framed, and runs only its own scripts', async () => {
    await using stream = await openStream({ tls });
    const { status, headers, body } = await get(stream.port);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    const policy = String(headers['content-security-policy']);
    assert.match(
      policy,
      /^default-src 'none'; script-src ('sha256-[\w+/]{43}=' ?){2}; style-src 'sha256-[\w+/]{43}='; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'$/,
    );
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    const html = body.toString();
    assert.match(html, /^<!doctype html>/);
    assert.doesNotMatch(html, /<script[^>]+src=|<link[^>]+stylesheet|@import|\sstyle="|\son\w+="/);
    assert.ok(headers['content-length'] === String(body.length) && body.length < 150_000);
  });

  test('connects from /fleet to any machine with TLS, since the viewer lists them', async () => {
    await using stream = await openStream({ tls, ...tokens });
    const { status, headers, body } = await get(stream.port, {}, { path: '/fleet' });
    assert.equal(status, 200);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; img-src data:; connect-src wss: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'$/,
    );
    const html = body.toString();
    assert.doesNotMatch(html, /<script[^>]+src=|<link[^>]+stylesheet|@import|\sstyle="|\son\w+="/);
    const packed = await get(stream.port, { 'accept-encoding': 'gzip' }, { path: '/fleet' });
    assert.deepEqual(gunzipSync(packed.body), body);
    assert.ok(packed.body.length < 45_000);
    assert.notEqual(headers.etag, (await get(stream.port)).headers.etag);
    assert.equal((await get(stream.port, {}, { path: '/fleet', method: 'POST' })).status, 405);
  });

  test('compresses by Accept-Encoding, and answers 304 to a known entity tag', async () => {
    await using stream = await openStream({ tls });
    const plain = await get(stream.port, { 'accept-encoding': 'br, gzip;q=0' });
    const packed = await get(stream.port, { 'accept-encoding': 'br, gzip;q=0.5' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(packed.body), plain.body);
    assert.ok(packed.body.length < 45_000);
    const { etag = '' } = plain.headers;
    const again = await get(stream.port, { 'if-none-match': etag });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    assert.equal((await get(stream.port, { 'if-none-match': '"old"' })).status, 200);
    const head = await get(stream.port, {}, { method: 'HEAD' });
    assert.deepEqual([head.status, head.body.length], [200, 0]);
  });

  test('needs no token, and answers the admission query as the stream would', async () => {
    await using stream = await openStream({ tls, ...tokens });
    assert.equal((await get(stream.port)).status, 200);
    const askFor = async (headers: Record<string, string>) => {
      const { status, text } = await sendRequest(stream.port, '/?admission', { headers });
      return `${status} ${text.trim()}`;
    };
    assert.equal(
      await askFor({}),
      '401 An access token is needed: send it as "Authorization: Bearer TOKEN".',
    );
    assert.equal(await askFor({ authorization: 'Bearer x' }), '401 The access token is not known.');
    assert.equal(await askFor({ authorization: `Bearer ${TOKEN}` }), '200 OK');
    // Each address is logged once a minute.
    assert.equal(stream.warnings.length, 1);
  });

  test('explains required certificates, unless TLS rejects the handshake', async () => {
    const clients = { authorityFile: root.own.certificateFile, revocationFile: null };
    const mutual = readTlsMaterial({ ...root.issueServer(), clients });
    await using stream = await openStream({ tls: mutual });
    assert.equal((await get(stream.port)).status, 200);
    const { status } = await sendRequest(stream.port, '/?admission');
    assert.equal(status, 403);
    await using strict = await openStream({ tls: mutual, refusesInHandshake: true });
    await assert.rejects(get(strict.port));
  });
});
