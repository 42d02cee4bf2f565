/** Values that the console needs in the browser, in a file without schemas, which it would have to load. */

/** The roles of operators, each with all permissions of the one before it. */
export const OPERATOR_ROLES = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** In characters. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;

/**
 * The languages of pages and e-mails, the default first. Texts are a `Record` of them, so that the compiler names every text that
 * a new language lacks.
 */
export const LANGUAGES = ['en', 'fr', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Creates a value for each language. */
export function forEachLanguage<Value>(
  create: (language: Language) => Value,
): Record<Language, Value> {
  return { en: create('en'), fr: create('fr'), de: create('de') };
}
