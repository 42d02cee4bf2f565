import { openFields, readText, readTexts, type Fields, type TextRule } from './catalog-fields.ts';
import {
  CATALOG_LANGUAGES,
  OUTREACH_LINKS,
  type CatalogLanguage,
  type CatalogOutreach,
  type Product,
} from './catalog-model.ts';
import type { CatalogProblem } from './catalog-problems.ts';
import { NAME_RULE, WEB_URL_RULE } from './catalog-rules.ts';

const FIELDS = [
  'product_name',
  'sender',
  'postal_address',
  'website',
  'links',
  'about',
  'version',
  'highlights',
];

/** More than anybody reads in a letter. */
const HIGHLIGHTS = { maxItems: 8 };

/** Reads `outreach`, whose fields are all optional, and adds problems. */
export function readOutreach(
  value: unknown,
  trialProduct: Product | undefined,
  problems: CatalogProblem[],
): CatalogOutreach {
  const fields = openFields(value ?? {}, ['outreach'], FIELDS, problems);
  const about = openMapping(fields, 'about', CATALOG_LANGUAGES);
  const highlights = openMapping(fields, 'highlights', CATALOG_LANGUAGES);
  const links = openMapping(fields, 'links', OUTREACH_LINKS);
  return {
    // Without that product there is a problem already, and nothing of this is used.
    productName: readOptional(fields, 'product_name', NAME_RULE) ?? trialProduct?.name ?? '',
    sender: readOptional(fields, 'sender', NAME_RULE),
    postalAddress: readOptional(fields, 'postal_address', NAME_RULE),
    website: readOptional(fields, 'website', WEB_URL_RULE),
    links: {
      download: readOptional(links, 'download', WEB_URL_RULE),
      sellers: readOptional(links, 'sellers', WEB_URL_RULE),
      tutorials: readOptional(links, 'tutorials', WEB_URL_RULE),
      news: readOptional(links, 'news', WEB_URL_RULE),
    },
    about: perLanguage((language) => readOptional(about, language, NAME_RULE)),
    version: readOptional(fields, 'version', NAME_RULE),
    highlights: perLanguage((language) => readTexts(highlights, language, NAME_RULE, HIGHLIGHTS)),
  };
}

function openMapping(fields: Fields, name: string, known: readonly string[]): Fields {
  return openFields(fields.values.get(name) ?? {}, ['outreach', name], known, fields.problems);
}

function readOptional(fields: Fields, name: string, rule: TextRule): string | null {
  return (fields.values.get(name) ?? null) === null ? null : readText(fields, name, rule);
}

function perLanguage<Value>(
  read: (language: CatalogLanguage) => Value,
): Readonly<Record<CatalogLanguage, Value>> {
  return { en: read('en'), fr: read('fr'), de: read('de') };
}
