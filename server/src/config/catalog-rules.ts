import { KEY_PREFIX_PATTERN } from '#server/lib/license-key.ts';
import type { TextRule } from './catalog-fields.ts';

/** The formats of texts in the catalogue. */
export const ID_RULE: TextRule = {
  pattern: /^[a-z0-9][a-z0-9_-]{0,63}$/u,
  must: 'a text of 1 to 64 small letters, digits, hyphens and underscores',
};

export const LABEL_RULE: TextRule = {
  pattern: /^[\w.:-]{1,64}$/u,
  must: 'a text of 1 to 64 letters, digits and _ . : -',
};

export const NAME_RULE: TextRule = {
  pattern: /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u,
  must: 'a text of 1 to 200 characters',
};

export const WEB_URL_RULE: TextRule = {
  pattern: /^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/u,
  must: 'an address that begins with https:// or http://',
};

export const PRICE_RULE: TextRule = {
  pattern: /^[\x21-\x7e]{1,200}$/u,
  must: "a payment provider's price id, in quotes when it is a number",
};

export const PREFIX_RULE: TextRule = {
  pattern: KEY_PREFIX_PATTERN,
  must: 'a text of 1 to 8 letters and digits',
};

/** How many features a product may have. */
export const FEATURES = { maxItems: 100 };
