import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { KEY_EMAIL_LANGUAGES } from './texts.ts';
import { exampleReplacedKey, writeReplacedKeyEmail } from './write-key-email.ts';

/** Set to rewrite the files; review the difference before you commit it. */
const WRITE = process.env['WRITE_GOLDEN_FILES'] === '1';

for (const language of KEY_EMAIL_LANGUAGES) {
  for (const machinesKept of [true, false]) {
    const machines = machinesKept ? 'kept' : 'dropped';
    test(`writes the approved e-mail with a replaced key in ${language}, machines ${machines}`, () => {
      const facts = { ...exampleReplacedKey, machinesKept };
      const { subject, text, html } = writeReplacedKeyEmail(language, facts);
      const written = `${subject}\n\n${text}\n${html}`;
      const file = new URL(`golden/${language}-replaced-${machines}.golden`, import.meta.url);
      if (WRITE) writeFileSync(file, written);
      assert.equal(written, readFileSync(file, 'utf8'));
    });
  }
}

test('does not repeat a name with a link in the e-mail with a replaced key', () => {
  const facts = { ...exampleReplacedKey, customerName: 'Win at evil.example' };
  assert.match(writeReplacedKeyEmail('en', facts).text, /^Hello,$/mu);
});
