import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { escapeHtml } from '#server/mail/escape-html.ts';
import { PAGE_LANGUAGES } from '#server/pages/page-language.ts';
import { renderPage } from '#server/pages/render-page.ts';

import {
  askToUnsubscribePage,
  brokenLinkPage,
  unsubscribedPage,
} from '../suppressions/unsubscribe-pages.ts';
import { writeConfirmationMail } from './confirmation-mail.ts';
import {
  alreadyConfirmedPage,
  askToConfirmPage,
  confirmedPage,
  voidLinkPage,
} from './confirmation-pages.ts';

const facts = {
  sender: 'Example Shop',
  email: 'ada@example.com',
  confirmUrl: 'https://license.example.com/s/EXAMPLE-CONFIRM',
  unsubscribeUrl: 'https://license.example.com/u/EXAMPLE-UNSUBSCRIBE',
};

/** Set to write the files anew; read the difference before it is committed. */
const WRITE = process.env['WRITE_GOLDEN_FILES'] === '1';

function assertGolden(name: string, written: string): void {
  const file = new URL(`golden/${name}.golden`, import.meta.url);
  if (WRITE) mkdirSync(new URL('.', file), { recursive: true });
  if (WRITE) writeFileSync(file, written);
  assert.equal(written, readFileSync(file, 'utf8'));
}

for (const language of PAGE_LANGUAGES) {
  test(`the mail in ${language} is the one that was read and approved`, () => {
    const { subject, text, html } = writeConfirmationMail(language, facts);
    assertGolden(`mail-${language}`, `${subject}\n\n${text}\n${html}`);
  });

  test(`the pages in ${language} are those that were read and approved`, () => {
    const frame = { language, sender: 'Example Shop', contact: 'news@example.com' };
    const pages = [
      askToConfirmPage(frame, facts.email),
      confirmedPage(frame, facts.email),
      alreadyConfirmedPage(frame, facts.email),
      voidLinkPage(frame),
      askToUnsubscribePage(frame, facts.email),
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

test('whatever sender and address are called, mail and pages hold them as text', () => {
  const sender = 'A & B <img src=x>';
  const { html } = writeConfirmationMail('en', { ...facts, sender });
  assert.doesNotMatch(html, /<img/u);
  assert.ok(html.includes(escapeHtml(sender)));
  const page = renderPage(
    confirmedPage({ language: 'en', sender, contact: null }, `"'&@example.com`),
  );
  assert.doesNotMatch(page, /<img|<p>From now on, news from A & /u);
  assert.ok(page.includes('&quot;&#39;&amp;@example.com'));
});
