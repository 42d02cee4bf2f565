import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { escapeHtml } from '#server/lib/text.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { LANGUAGES } from '@latchkey/contract';

import { chooseLanguage } from './texts.ts';
import { exampleGiftNote, writeGiftNote } from './write-gift-note.ts';
import {
  exampleKeyEmail,
  exampleReplacedKey,
  writeKeyEmail,
  writeReplacedKeyEmail,
  type KeyEmailFacts,
} from './write-key-email.ts';

const [first] = exampleKeyEmail.keys;
assert.ok(first !== undefined);
const oneKey: KeyEmailFacts = { ...exampleKeyEmail, customerName: null, keys: [first] };

/** Set to rewrite the files; review the difference before you commit it. */
const WRITE = process.env['WRITE_GOLDEN_FILES'] === '1';

function assertGolden(name: string, { subject, text, html }: RenderedMail): void {
  const written = `${subject}\n\n${text}\n${html}`;
  const file = new URL(`golden/${name}.golden`, import.meta.url);
  if (WRITE) writeFileSync(file, written);
  assert.equal(written, readFileSync(file, 'utf8'));
}

for (const language of LANGUAGES) {
  for (const [name, facts] of [
    ['one', oneKey],
    ['two', exampleKeyEmail],
  ] as const) {
    test(`writes the approved e-mail in ${language} for ${name}`, () => {
      assertGolden(`${language}-${name}`, writeKeyEmail(language, facts));
    });
  }
}

const writeSubject = (keys: KeyEmailFacts['keys']) =>
  writeKeyEmail('en', { ...oneKey, keys }).subject;

test('contains the end of updates in the language of the buyer', () => {
  const [key] = exampleKeyEmail.keys;
  assert.ok(key);
  const updatesUntil = new Date('2028-03-01T12:00:00Z');
  const sentences = {
    en: 'For up to 2 computers at the same time. With all updates until 1 March 2028.',
    fr: 'Pour 2 ordinateurs au maximum en même temps. Mises à jour comprises jusqu’au 1er mars 2028.',
    de: 'Für bis zu 2 Computer gleichzeitig. Mit allen Updates bis zum 1. März 2028.',
  };
  for (const language of LANGUAGES) {
    const mail = writeKeyEmail(language, { ...exampleKeyEmail, keys: [{ ...key, updatesUntil }] });
    assert.ok(mail.text.replaceAll(/\s+/gu, ' ').includes(sentences[language]), mail.text);
  }
});

test('names a single product and the number of keys in the subject', () => {
  assert.equal(writeSubject([first]), 'Your license key for Example Studio');
  assert.equal(writeSubject([first, first]), 'Your 2 license keys for Example Studio');
  assert.equal(writeSubject(exampleKeyEmail.keys), 'Your 2 license keys');
});

test('chooses the language of the locale, English by default', () => {
  const chosen = ['de', 'de-AT', 'DE_ch', 'fr', 'fr-CA', 'en-GB', 'pt-BR', 'den', '', null];
  const expected = ['de', 'de', 'de', 'fr', 'fr', 'en', 'en', 'en', 'en', 'en'];
  assert.deepEqual(chosen.map(chooseLanguage), expected);
});

const greet = (customerName: string | null) =>
  writeKeyEmail('en', { ...oneKey, customerName }).text.split('\n')[3];

test('greets by name, unless the name contains a link, an address or markup', () => {
  for (const name of ['Zoë O’Hara-Łukasz', 'J. R. Smith Jr.', '李雷', 'Müller & Co'.slice(0, 6)]) {
    assert.equal(greet(name), `Hello ${name},`);
  }
  assert.equal(greet('  Ann \n Example '), 'Hello Ann Example,');
  const strangers = [
    'https://evil.example',
    'Win at evil.example',
    'ann@example.org',
    '<b>Ann</b>',
    'a'.repeat(61),
    ' ',
    null,
  ];
  for (const name of strangers) assert.equal(greet(name), 'Hello,');
});

test('links to the page for buyers, and to nothing else', () => {
  const { html, text } = writeKeyEmail('en', exampleKeyEmail);
  assert.deepEqual(html.match(/https?:[^"<\s]*/gu), [exampleKeyEmail.buyerPage]);
  assert.ok(text.includes(`lost or replaced\n${exampleKeyEmail.buyerPage}\n`));
});

const findTags = (html: string) => html.match(/<[^>]*>/gu);

test('escapes product names and transaction ids in HTML', () => {
  const plain = writeKeyEmail('en', {
    ...oneKey,
    keys: [{ ...first, productName: 'P' }],
    transactionId: 'T',
  });
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (productName, transactionId) => {
      const facts = { ...oneKey, keys: [{ ...first, productName }], transactionId };
      const { html } = writeKeyEmail('en', facts);
      assert.deepEqual(findTags(html), findTags(plain.html));
      assert.ok(html.includes(escapeHtml(productName)) && html.includes(escapeHtml(transactionId)));
    }),
  );
});

test('loads no external resources and styles inline', () => {
  const { html } = writeKeyEmail('de', { ...exampleKeyEmail, buyerPage: null });
  assert.doesNotMatch(html, /https?:|src=|url\(|<img|<script|<link/u);
  const shown = html.slice(html.indexOf('<body'));
  for (const tag of shown.match(/<(?:h1|h2|p|td|ol|li)\b[^>]*>/gu) ?? []) {
    assert.match(tag, /style="/u);
  }
});

for (const language of LANGUAGES) {
  for (const machinesKept of [true, false]) {
    const machines = machinesKept ? 'kept' : 'dropped';
    test(`writes the approved e-mail with a replaced key in ${language}, machines ${machines}`, () => {
      const facts = { ...exampleReplacedKey, machinesKept };
      assertGolden(`${language}-replaced-${machines}`, writeReplacedKeyEmail(language, facts));
    });
  }
}

for (const language of LANGUAGES) {
  test(`writes the approved note to the payer of a gift in ${language}`, () => {
    assertGolden(`${language}-gift`, writeGiftNote(language, exampleGiftNote));
  });
}

test('does not repeat a name with a link in the e-mail with a replaced key', () => {
  const facts = { ...exampleReplacedKey, customerName: 'Win at evil.example' };
  assert.match(writeReplacedKeyEmail('en', facts).text, /^Hello,$/mu);
});
