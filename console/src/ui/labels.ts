/** Labels for codes of the interface. */
import type { Language } from '@latchkey/contract/constants';
import { nameProvider, PAYMENT_SOURCES } from '@latchkey/contract/payment-providers';

/** Returns the label of a code, such as `past due` of `past_due`. */
export function labelOf(code: string): string {
  return code.replaceAll('_', ' ');
}

/** Begins a text with a capital letter. */
export function sentenceCase(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const ACTOR_SOURCES = {
  'operator:': '',
  'api_key:': 'API key ',
  'cli:': 'command line: ',
} as const;

/** Returns who made a change, such as `anna@example.com` of `operator:anna@example.com`. */
export function nameActor(actor: string): string {
  const found = Object.entries(ACTOR_SOURCES).find(([source]) => actor.startsWith(source));
  return found === undefined ? actor : found[1] + actor.slice(found[0].length);
}

/** Returns codes as the choices of a filter. */
export function toOptions(
  codes: readonly string[],
): { readonly value: string; readonly label: string }[] {
  return codes.map((value) => ({ value, label: sentenceCase(labelOf(value)) }));
}

/** Returns a table of names as the choices of a filter. */
export function namedOptions(
  names: Readonly<Record<string, string>>,
): { readonly value: string; readonly label: string }[] {
  return Object.entries(names).map(([value, label]) => ({ value, label }));
}

export const PROVIDER_OPTIONS = PAYMENT_SOURCES.map((value) => ({
  value,
  label: nameProvider(value),
}));

export { nameProvider };

/** The languages of mails. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'French',
  de: 'German',
};

const NAMES_BY_CODE: Readonly<Record<string, string>> = LANGUAGE_NAMES;

/** The name of a language; its code where it has none. */
export function nameLanguage(language: string): string {
  return NAMES_BY_CODE[language] ?? language;
}
