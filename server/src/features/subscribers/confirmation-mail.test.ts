import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { escapeHtml } from '#server/lib/text.ts';
import { LANGUAGES } from '@latchkey/contract';
import { renderPage } from '#server/pages/render-page.ts';

import {
  confirmUnsubscribePage,
  brokenLinkPage,
  unsubscribedPage,
} from '../suppressions/unsubscribe-pages.ts';
import { renderConfirmationMail } from './confirmation-mail.ts';
import {
  alreadyConfirmedPage,
  confirmPage,
  confirmedPage,
  voidLinkPage,
} from './confirmation-pages.ts';

const facts = {
  sender: 'Example Shop',
  email: 'ada@example.com',
  confirmUrl: 'https://license.example.com/s/EXAMPLE-CONFIRM',
  unsubscribeUrl: 'https://license.example.com/u/EXAMPLE-UNSUBSCRIBE',
};

/** Set to rewrite the files; review the difference before committing. */
const WRITE = process.env['WRITE_GOLDEN_FILES'] === '1';

function assertGolden(name: string, written: string): void {
  const file = new URL(`golden/${name}.golden`, import.meta.url);
  if (WRITE) mkdirSync(new URL('.', file), { recursive: true });
  if (WRITE) writeFileSync(file, written);
  assert.equal(written, readFileSync(file, 'utf8'));
}

for (const language of LANGUAGES) {
  test(`the e-mail in ${language} equals its golden file`, () => {
    const { subject, text, html } = renderConfirmationMail(language, facts);
    assertGolden(`mail-${language}`, `${subject}\n\n${text}\n${html}`);
  });

  test(`the pages in ${language} equal their golden file`, () => {
    const frame = { language, sender: 'Example Shop', contact: 'news@example.com' };
    const pages = [
      confirmPage(frame, facts.email),
      confirmedPage(frame, facts.email),
      alreadyConfirmedPage(frame, facts.email),
      voidLinkPage(frame),
      confirmUnsubscribePage(frame, facts.email),
      unsubscribedPage(frame, facts.email),
      brokenLinkPage(frame),
    ].map((page) => {
      const html = renderPage(page);
      assert.match(html, new RegExp(`^<!doctype html>\n<html lang="${language}">`, 'u'));
      return /<main>[\s\S]*<\/main>/u.exec(html)?.[0];
    });
    assertGolden(`pages-${language}`, `${pages.join('\n\n')}\n`);
  });
}

test('escapes sender and address in e-mail and pages', () => {
  const sender = 'A & B <img src=x>';
  const { html } = renderConfirmationMail('en', { ...facts, sender });
  assert.doesNotMatch(html, /<img/u);
  assert.ok(html.includes(escapeHtml(sender)));
  const page = renderPage(
    confirmedPage({ language: 'en', sender, contact: null }, `"'&@example.com`),
  );
  assert.doesNotMatch(page, /<img|<p>From now on, you will receive news from A & /u);
  assert.ok(page.includes('&quot;&#39;&amp;@example.com'));
});
