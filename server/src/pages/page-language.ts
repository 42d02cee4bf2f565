import { LANGUAGES, type Language } from '@latchkey/contract';

/** More than any browser sends. */
const MAX_RANGES = 20;

/**
 * Returns the preferred language of a client.
 * @param header `Accept-Language` (RFC 9110 §12.5.4), such as `fr-CH, fr;q=0.9, en;q=0.8`
 * @returns null when none of them is available
 */
export function choosePageLanguage(header: string | undefined): Language | null {
  const wanted = (header ?? '')
    .split(',', MAX_RANGES)
    .map(readRange)
    .filter(({ language, quality }) => language !== undefined && quality > 0)
    // The sort is stable: equal ones stay in the given order.
    .sort((one, other) => other.quality - one.quality);
  return wanted[0]?.language ?? null;
}

function readRange(text: string): { language: Language | undefined; quality: number } {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const primary = range.split('-')[0];
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return {
    language: LANGUAGES.find((language) => language === primary),
    quality: /^[01](?:\.\d{0,3})?$/u.test(weight) ? Number(weight) : 0,
  };
}
