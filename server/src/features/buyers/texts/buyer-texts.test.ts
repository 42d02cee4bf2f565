import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LANGUAGES } from '@latchkey/contract';

import { buyerTexts } from './buyer-texts.ts';
import type { BuyerTexts } from './texts.ts';

/** Every sentence that contains a number. */
function countingSentences(texts: BuyerTexts, count: number): string[] {
  const { airgap, errors, freeing, license, list } = texts;
  return [
    errors.codeWrong(count),
    errors.codeLimit(count),
    errors.tooMany(count),
    list.machines(count, count),
    license.moves(0, count),
    license.moves(count, count),
    freeing.effect(count),
    freeing.noMoves(count),
    freeing.limit(count, count, '…'),
    airgap.about(count),
    airgap.errors.full(count),
  ];
}

const PLURAL =
  /\b1[ \u00a0](?:more |new )*(?:days|minutes|times|computers|jours|essais|ordinateurs|Tagen?|Minuten|Versuche|Computern)\b/u;

for (const language of LANGUAGES) {
  describe(language, () => {
    const texts = buyerTexts[language];

    test('has no plural after a one, and the number otherwise', () => {
      for (const sentence of countingSentences(texts, 1)) assert.doesNotMatch(sentence, PLURAL);
      for (const sentence of countingSentences(texts, 5)) assert.match(sentence, /\b5\b/u);
    });

    test('has non-breaking spaces before marks and after numbers only in French', () => {
      const sentence = `${texts.freeing.title} ${texts.airgap.about(30)}`;
      assert.equal(/[\u00a0\u202f]/u.test(sentence), language === 'fr');
    });
  });
}
