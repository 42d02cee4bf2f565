import { escapeHtml } from '#server/lib/text.ts';

/** HTML that is safe to send: all texts in it are escaped. Only {@link markup} and {@link trustMarkup} create it. */
export class Markup {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** A value in a template; null and false add nothing. */
export type MarkupValue = Markup | string | number | false | null | readonly MarkupValue[];

/** Creates HTML from a template: texts are escaped, so quote every attribute. */
export function markup(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  const source = parts.reduce(
    (before, part, index) => before + render(values[index - 1] ?? null) + part,
  );
  return new Markup(source);
}

/** Marks HTML of this program as safe. @param source contains no text of a request, unless it is escaped */
export function trustMarkup(source: string): Markup {
  return new Markup(source);
}

function render(value: MarkupValue): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.source;
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}
