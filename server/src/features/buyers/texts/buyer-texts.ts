import type { Language } from '@latchkey/contract';

import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import type { BuyerTexts } from './texts.ts';

export const buyerTexts: Readonly<Record<Language, BuyerTexts>> = {
  en: english,
  fr: french,
  de: german,
};
