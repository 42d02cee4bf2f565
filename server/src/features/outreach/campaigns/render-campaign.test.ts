import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LANGUAGES } from '@latchkey/contract';

import { testCatalog } from '../../../../test/test-catalog.ts';
import type { TemplateFacts } from '../templates/template.ts';
import { parseList } from './parse-list.ts';
import { parseText } from './parse-text.ts';
import { findProblems, findTextProblems, renderCampaign } from './render-campaign.ts';
import { writeTemplateTexts } from './template-texts.ts';

const facts: TemplateFacts = {
  name: 'Ada',
  productName: 'Example',
  sender: 'Grace',
  links: {
    download: 'https://example.com/get',
    sellers: 'https://example.com/sell',
    tutorials: 'https://example.com/learn',
    news: 'https://example.com/news',
  },
  about: null,
  version: '2.0',
  highlights: [],
  postalAddress: '1 Main Street',
  unsubscribeUrl: 'https://example.com/u/token',
};

const render = (text: string, more: Partial<TemplateFacts> = {}) =>
  renderCampaign({ subject: 'S', preview: 'P', text }, 'en', 'subscribers', { ...facts, ...more });

const faultsOf = (text: string, more: Partial<TemplateFacts> = {}) =>
  findTextProblems({ subject: 'S', preview: '', text }, 'en', { ...facts, ...more }).map(
    ({ line, message }) => `${line}: ${message}`,
  );

describe('a text', () => {
  test('consists of blocks', () => {
    const text =
      '# News\nFirst\nSecond\n\n- a\n- b\n1. one\nThird\n[[Get]](https://e.com)\n[All](http://e.com)';
    assert.deepEqual(
      parseText(text).map(({ line, block }) => [line, block.kind]),
      [
        [1, 'heading'],
        [2, 'lines'],
        [5, 'list'],
        [7, 'steps'],
        [8, 'paragraph'],
        [9, 'button'],
        [10, 'link'],
      ],
    );
  });

  test('is framed by greeting, signature, reason, address and the link to unsubscribe', () => {
    assert.equal(
      render('Version {{version}} of {{product}} is here, {{name|friend}}.').text,
      `Hello Ada,

Version 2.0 of Example is here, Ada.

Kind regards,
Grace

---
You receive this e-mail because you subscribed to news from Grace.
1 Main Street
Stop e-mails like this
https://example.com/u/token
`,
    );
  });

  test('shows markup in names and texts as text', () => {
    const name = '<script>alert(1)</script>\n# Big\n[[x]](https://evil.example)';
    const { html, text } = render('{{name|you}}', { name });
    assert.doesNotMatch(html, /<script|href="https:\/\/evil/u);
    assert.match(text, /<script>alert\(1\)<\/script> # Big \[\[x\]\]/u);
  });

  test('keeps the subject on one line', () => {
    const mail = { subject: 'A\r\nBcc: x@example.com', preview: '', text: 'x' };
    assert.equal(renderCampaign(mail, 'en', 'list', facts).subject, 'A Bcc: x@example.com');
  });

  test('uses the fallback for a recipient without a name', () => {
    assert.match(render('Dear {{name|friend}}', { name: null }).text, /Dear friend/u);
  });

  test('reports every fault with its line', () => {
    assert.deepEqual(faultsOf('Hello\n{{nmae}} {{name}}\n[x](javascript:alert(1))\n{{version'), [
      '2: Unknown placeholder {{nmae}}.',
      '2: {{name}} needs a text for recipients without a name: {{name|friend}}.',
      '4: Placeholders begin with {{ and end with }} on the same line.',
    ]);
    assert.deepEqual(faultsOf('[x](javascript:alert)'), [
      '1: A link must begin with https:// or http://: javascript:alert',
    ]);
    assert.deepEqual(faultsOf('[x]({{download_url}})'), []);
    assert.deepEqual(faultsOf('{{version}}', { version: null }), [
      '1: The catalogue has no value for {{version}}: set it in the section outreach.',
    ]);
  });

  test('needs the default language', () => {
    const [problem] = findProblems({}, 'de', () => facts);
    assert.equal(problem?.message, 'The text of the default language is missing.');
  });
});

test('every template is a text without faults, in every language', () => {
  const templates = writeTemplateTexts(testCatalog().outreach);
  assert.equal(templates.length, 5);
  for (const { template, texts } of templates) {
    for (const language of LANGUAGES) {
      const text = texts[language];
      assert.ok(text, template);
      assert.deepEqual(findTextProblems(text, language, facts), [], template);
    }
  }
});

test('pasted addresses are read in the forms of spreadsheets and mail programs', () => {
  const pasted = `email,name
ada@example.com
 "Bob B." <bob@Example.ORG>
carl@example.com;Carl;de
dora@example.com\tDora
nonsense
`;
  assert.deepEqual([...parseList(pasted, 2)].flat(), [
    { email: 'ada@example.com', name: null, language: null },
    { email: 'bob@Example.ORG', name: 'Bob B.', language: null },
    { email: 'carl@example.com', name: 'Carl', language: 'de' },
    { email: 'dora@example.com', name: 'Dora', language: null },
    { email: 'nonsense', name: null, language: null },
  ]);
});
