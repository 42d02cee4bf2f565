import { cleanName } from '../templates/render-template.ts';
import type { TemplateFacts } from '../templates/template.ts';

/** The facts that the text of a campaign may name. */
export type TextFacts = Pick<
  TemplateFacts,
  'name' | 'productName' | 'sender' | 'links' | 'version'
>;

/** A placeholder without its braces, and what replaces it. */
interface PlaceholderKind {
  readonly description: string;
  /** Null: the catalogue has no value. */
  readonly read: (facts: TextFacts) => string | null;
}

/** `name` is apart: it has a fallback, because many recipients have none. */
export const PLACEHOLDERS: Readonly<Record<string, PlaceholderKind>> = {
  product: { description: 'The product', read: ({ productName }) => productName },
  version: { description: 'The new version', read: ({ version }) => version },
  sender: { description: 'The signature', read: ({ sender }) => sender },
  download_url: { description: 'Download page', read: ({ links }) => links.download },
  news_url: { description: 'Page with all changes', read: ({ links }) => links.news },
  sellers_url: { description: 'Page for sellers', read: ({ links }) => links.sellers },
  tutorials_url: { description: 'Tutorials', read: ({ links }) => links.tutorials },
};

/** `{{name}}` or `{{name|fallback}}`. */
const PLACEHOLDER = /\{\{(?<name>[^{}|]*)(?:\|(?<fallback>[^{}]*))?\}\}/gu;

/** Replaces the placeholders of one text. */
export function fillPlaceholders(text: string, facts: TextFacts): string {
  return text.replaceAll(
    PLACEHOLDER,
    (placeholder, inner: string, fallback: string | undefined) => {
      const name = inner.trim();
      if (name === 'name') return cleanName(facts.name) ?? fallback?.trim() ?? '';
      return PLACEHOLDERS[name]?.read(facts) ?? placeholder;
    },
  );
}

/** Returns the problems of the placeholders of one text, a sentence for each. */
export function findPlaceholderFaults(text: string, facts: TextFacts): string[] {
  const faults = text.matchAll(PLACEHOLDER).flatMap(({ 0: placeholder, groups = {} }) => {
    const fault = findFault(placeholder, groups, facts);
    return fault === null ? [] : [fault];
  });
  const rest = text.replaceAll(PLACEHOLDER, '');
  const broken = /\{\{|\}\}/u.test(rest)
    ? ['Placeholders begin with {{ and end with }} on the same line.']
    : [];
  return [...faults, ...broken];
}

function findFault(
  placeholder: string,
  { name: inner = '', fallback }: Readonly<Record<string, string | undefined>>,
  facts: TextFacts,
): string | null {
  const name = inner.trim();
  if (name === 'name') {
    const hasFallback = fallback !== undefined && fallback.trim() !== '';
    return hasFallback
      ? null
      : `${placeholder} needs a text for recipients without a name: {{name|friend}}.`;
  }
  const known = PLACEHOLDERS[name];
  if (known === undefined || fallback !== undefined) return `Unknown placeholder ${placeholder}.`;
  return known.read(facts) === null
    ? `The catalogue has no value for ${placeholder}: set it in the section outreach.`
    : null;
}
