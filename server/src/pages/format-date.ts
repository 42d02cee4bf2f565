import { forEachLanguage, type Language } from '@latchkey/contract';

/** British dates, as in all texts. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr', de: 'de' };

function createFormats(options: Intl.DateTimeFormatOptions) {
  const create = (language: Language): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(LOCALES[language], { ...options, timeZone: 'UTC' });
  return forEachLanguage(create);
}

const DATES = createFormats({ dateStyle: 'long' });
const TIMES = createFormats({ dateStyle: 'long', timeStyle: 'short' });

/** Formats a day, such as `20 November 2026`. */
export function formatDate(language: Language, date: Date): string {
  return toOrdinal(language, DATES[language].format(date));
}

/** Formats a time to the minute, in UTC. */
export function formatDateTime(language: Language, date: Date): string {
  return `${toOrdinal(language, TIMES[language].format(date))} UTC`;
}

/** French writes the first day of a month as `1er`, which the Unicode locale data omit. */
function toOrdinal(language: Language, text: string): string {
  return language === 'fr' ? text.replace(/^1(?= )/u, '1er') : text;
}
