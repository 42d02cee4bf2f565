import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import { findSuppression } from '#server/features/suppressions/queries/suppressions.ts';
import { createUnsubscribeToken } from '#server/features/suppressions/unsubscribe.ts';

import { TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';

const service = await openAcceptanceService();

/** Creates the link of a mail to this address, and the reader of its suppression. */
function open(email: string) {
  const { context } = service.own;
  return {
    path: `/u/${createUnsubscribeToken(context.vault, email)}`,
    suppression: () => findSuppression(context.pool, hashAddress(context.vault, email)),
  };
}

describe('200', inProcess, () => {
  test('shows the address; GET and HEAD change nothing', async () => {
    const { path, suppression } = open('ada+b&c@example.com');
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await service.send(method, path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    const { text } = await service.get(path);
    assert.match(
      text,
      /<p>ada\+b&amp;c@example\.com will no longer receive news and offers from /u,
    );
    assert.match(text, /<form method="post"><button type="submit">Unsubscribe<\/button><\/form>/u);
    assert.equal(await suppression(), null);
  });

  const bodies: readonly (readonly [string, RequestInit])[] = [
    [
      'of a mail program (RFC 8058)',
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'List-Unsubscribe=One-Click',
      },
    ],
    [
      'in parts',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
      },
    ],
    ['that is broken JSON', { headers: { 'content-type': 'application/json' }, body: '{' }],
    ['without a type', { body: Buffer.from('x') }],
    ['that is none', {}],
  ];
  for (const [name, init] of bodies) {
    test(`unsubscribes with a body ${name}`, async () => {
      const { path, suppression } = open(`${name.replaceAll(/\W/gu, '')}@example.com`);
      const answer = await service.send('POST', path, init);
      assert.equal(answer.status, 200);
      assert.match(answer.text, /<h1>You are unsubscribed<\/h1>/u);
      const { reason, suppressedAt } = (await suppression()) ?? {};
      assert.deepEqual([reason, suppressedAt], ['unsubscribed', TEST_START]);
    });
  }

  test('works again after years, for every spelling of the address', async () => {
    const { path, suppression } = open('Grace@EXAMPLE.com');
    assert.equal((await service.send('POST', path)).status, 200);
    service.own.clock.advance(10 * 365 * 86_400_000);
    assert.equal((await service.send('POST', path)).status, 200);
    assert.deepEqual(await suppression(), await open('grace@example.com').suppression());
    assert.notEqual(await suppression(), null);
  });

  test('accepts the link of the longest address', async () => {
    const longest = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example`;
    const { path, suppression } = open(longest);
    assert.equal((await service.send('POST', path)).status, 200);
    assert.equal((await suppression())?.reason, 'unsubscribed');
  });

  test('shows the page in the language of the browser', async () => {
    const { path } = open('ada@example.com');
    const languages = ['de-AT,de;q=0.9,en;q=0.5', 'pt;q=1, fr;q=0.8, en;q=0.9', 'fr_FR, fr', 'pl'];
    const shown = await Promise.all(
      languages.map(async (language) => {
        const { headers, text } = await service.get(path, { 'accept-language': language });
        const lang = /<html lang="(?<lang>\w+)">/u.exec(text)?.groups?.['lang'];
        assert.equal(headers.get('content-language'), lang);
        assert.match(headers.get('vary') ?? '', /Accept-Language/u);
        return lang;
      }),
    );
    assert.deepEqual(shown, ['de', 'en', 'fr', 'en']);
  });

  test('allows no script and no external resource; the policy contains the hash of the style', async () => {
    const { path } = open('ada@example.com');
    const { headers, text } = await service.get(path);
    assert.doesNotMatch(text, /<script|<link|<img|src=|href=|url\(|https?:/u);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; /u);
    const style = /<style>(?<style>[^<]*)<\/style>/u.exec(text)?.groups?.['style'] ?? '';
    const digest = Buffer.from(
      await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style)),
    ).toString('base64');
    assert.ok(policy.includes(`'sha256-${digest}'`));
  });
});

describe('404', () => {
  for (const token of ['x', 'a/b', 'A'.repeat(3_000), '']) {
    test(`shows a page with instructions for the invalid link ${token.slice(0, 10)}`, async () => {
      for (const method of ['GET', 'POST']) {
        const answer = await service.send(method, `/u/${token}`);
        assert.equal(answer.status, 404);
        assert.match(answer.text, /<h1>This link does not work<\/h1>/u);
      }
    });
  }
});

describe('500', inProcess, () => {
  test('shows a page when the database fails, and does not confirm the unsubscription', async () => {
    const { path, suppression } = open('away@example.com');
    const { pool } = service.own;
    await pool.query('alter table suppressions rename to suppressions_away');
    const answer = await service.send('POST', path, { headers: { 'accept-language': 'de' } });
    await pool.query('alter table suppressions_away rename to suppressions');
    assert.equal(answer.status, 500);
    assert.match(answer.text, /<h1>Das hat nicht geklappt<\/h1>/u);
    assert.equal(await suppression(), null);
  });
});
