import assert from 'node:assert/strict';
import { test } from 'node:test';

import { markup, trustMarkup } from './markup.ts';

test('escapes texts, in content and in attributes', () => {
  const text = `<script>"'&`;
  assert.equal(
    markup`<p title="${text}">${text}</p>`.source,
    '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
  );
});

test('inserts markup and lists of it as they are, and nothing for null and false', () => {
  const items = ['a', 'b<'].map((item) => markup`<li>${item}</li>`);
  const list = markup`<ul>${items}</ul>${null}${false}${7}${trustMarkup('<hr>')}`;
  assert.equal(list.source, '<ul><li>a</li><li>b&lt;</li></ul>7<hr>');
});
