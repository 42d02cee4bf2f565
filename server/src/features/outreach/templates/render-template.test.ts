import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { LANGUAGES, OUTREACH_TEMPLATES, type Language } from '@latchkey/contract';
import * as fc from 'fast-check';

import { loadCatalog } from '#server/config/catalog.ts';
import { defaults } from '#server/config/config.ts';
import { escapeHtml } from '#server/lib/text.ts';

import { testCatalog } from '../../../../test/test-catalog.ts';
import { cleanName, renderTemplate } from './render-template.ts';
import { readCommonFacts, type TemplateFacts } from './template.ts';

/** Set to rewrite the files; review the difference before committing. */
const WRITE = process.env['WRITE_GOLDEN_FILES'] === '1';

/** Facts that all have a value. */
const exampleFacts: TemplateFacts = {
  name: 'Ada',
  productName: 'Example Studio',
  sender: 'Robin at Example Studio',
  links: {
    download: 'https://example.com/download',
    sellers: 'https://example.com/sellers',
    tutorials: 'https://example.com/tutorials',
    news: 'https://example.com/news',
  },
  about: 'It shows you at a glance how your computers are doing, wherever they are.',
  version: '2.4',
  highlights: ['It starts twice as fast.', 'Graphs reach back a year.'],
  postalAddress: 'Example Studio, 1 Example Street, Exampletown',
  unsubscribeUrl: 'https://license.example.com/u/example',
};

const GREETINGS: Readonly<Record<Language, string>> = {
  en: 'Hello,',
  fr: 'Bonjour,',
  de: 'Guten Tag,',
};

const messages = LANGUAGES.flatMap((language) =>
  OUTREACH_TEMPLATES.map((template) => ({ template, language })),
);

/** The section of the example catalogue. */
const shipped = loadCatalog(defaults.catalogPath).outreach;

const bare: TemplateFacts = {
  ...exampleFacts,
  name: null,
  about: null,
  version: null,
  highlights: [],
  postalAddress: null,
};

for (const { template, language } of messages) {
  test(`${template} in ${language} equals its golden file`, () => {
    const facts = readCommonFacts(shipped, language, { name: '', address: 'robin@example.com' });
    const { name, unsubscribeUrl } = exampleFacts;
    const { subject, text, html } = renderTemplate(template, language, {
      ...facts,
      name,
      unsubscribeUrl,
    });
    const written = `${subject}\n\n${text}\n${html}`;
    const file = new URL(`golden/${template}-${language}.golden`, import.meta.url);
    if (WRITE) writeFileSync(file, written);
    assert.equal(written, readFileSync(file, 'utf8'));
  });

  test(`${template} in ${language} reads well with few facts`, () => {
    const { subject, text, html } = renderTemplate(template, language, bare);
    assert.equal(text.split('\n')[0], GREETINGS[language]);
    assert.match(subject, /Example Studio/u);
    for (const form of [subject, text, html]) {
      assert.doesNotMatch(form, /null|undefined|\bNaN\b|\[object| {2}of/u);
    }
    assert.match(html, new RegExp(`<html lang="${language}">`, 'u'));
  });
}

test('each template links to its page and to unsubscribing, in HTML and text', () => {
  const pages = {
    personal: 'download',
    sellers: 'sellers',
    update_personal: 'download',
    update_sellers: 'news',
    pi_tutorials: 'tutorials',
  };
  for (const { template, language } of messages) {
    const { text, html } = renderTemplate(template, language, exampleFacts);
    const button = /<a href="(?<url>[^"]+)"/u.exec(html)?.groups?.['url'];
    assert.equal(button, `https://example.com/${pages[template]}`);
    assert.ok(html.includes(`href="${exampleFacts.unsubscribeUrl}"`));
    assert.ok(text.includes(exampleFacts.unsubscribeUrl));
    assert.ok(text.trimEnd().split('\n').length > 10);
  }
});

test('missing facts default to the sender of mail', () => {
  const { outreach } = testCatalog();
  const facts = readCommonFacts(outreach, 'en', { name: 'Robin', address: 'robin@shop.example' });
  assert.deepEqual(facts, {
    productName: 'Personal',
    sender: 'Robin',
    links: {
      download: 'https://shop.example/',
      sellers: 'https://shop.example/',
      tutorials: 'https://shop.example/',
      news: 'https://shop.example/',
    },
    about: null,
    version: null,
    highlights: [],
    postalAddress: null,
  });
  const nameless = readCommonFacts(outreach, 'en', { name: '', address: 'robin@shop.example' });
  assert.equal(nameless.sender, 'Personal');
});

test('cleans a name to one line of at most 100 characters without control characters', () => {
  for (const [name, expected] of [
    ['Zoë O’Hara-Łukasz', 'Zoë O’Hara-Łukasz'],
    ['  Ada \r\nBcc: everybody@example.org ', 'Ada Bcc: everybody@example.org'],
    ['a\u0000b\u001bc\u2028d\u202Ee', 'a b c d e'],
    ['𝒜'.repeat(101), '𝒜'.repeat(100)],
    [`${'a'.repeat(99)} b`, 'a'.repeat(99)],
    [' \t ', null],
    ['', null],
    [null, null],
  ] as const) {
    assert.equal(cleanName(name), expected);
  }
});

const findTags = (html: string) => html.match(/<[^>]*>/gu);

test('escapes every name in HTML', () => {
  const plain = renderTemplate('personal', 'en', exampleFacts);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
      const { html } = renderTemplate('personal', 'en', { ...exampleFacts, name });
      assert.deepEqual(findTags(html), findTags(plain.html));
      assert.ok(html.includes(escapeHtml(cleanName(name) ?? '')));
    }),
  );
});

test('loads nothing and styles every element inline', () => {
  for (const { template, language } of messages) {
    const { html } = renderTemplate(template, language, exampleFacts);
    assert.doesNotMatch(html, /src=|url\(|<img|<script|<link/u);
    const shown = html.slice(html.indexOf('<body'));
    for (const tag of shown.match(/<(?:h1|h2|p|td|ol|ul|li|a)\b[^>]*>/gu) ?? []) {
      assert.match(tag, /style="/u);
    }
  }
});
