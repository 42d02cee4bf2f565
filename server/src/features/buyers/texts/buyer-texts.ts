import type { PageLanguage } from '#server/pages/page-language.ts';

import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import type { BuyerTexts } from './texts.ts';

export const buyerTexts: Readonly<Record<PageLanguage, BuyerTexts>> = {
  en: english,
  fr: french,
  de: german,
};
