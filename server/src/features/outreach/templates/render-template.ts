import type { Language, OutreachTemplate } from '@latchkey/contract';

import type { OutreachLink } from '#server/config/catalog-model.ts';
import type { MailBlock } from '#server/mail/mail-content.ts';
import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { LanguageTexts, TemplateFacts } from './template.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';

export const languages: Readonly<Record<Language, LanguageTexts>> = {
  en: english,
  fr: french,
  de: german,
};

/** The target of the button of each template, and which facts of the catalogue it shows. */
export const LAYOUTS: Readonly<
  Record<OutreachTemplate, { readonly button: OutreachLink; readonly shows?: 'about' | 'news' }>
> = {
  personal: { button: 'download', shows: 'about' },
  sellers: { button: 'sellers', shows: 'about' },
  update_personal: { button: 'download', shows: 'news' },
  update_sellers: { button: 'news', shows: 'news' },
  pi_tutorials: { button: 'tutorials' },
};

/** Renders a template in one language. */
export function renderTemplate(
  template: OutreachTemplate,
  language: Language,
  facts: TemplateFacts,
): RenderedMail {
  const common = languages[language];
  const texts = common[template](facts);
  const { button, shows } = LAYOUTS[template];
  return renderFrame(language, facts, {
    subject: texts.subject,
    preview: texts.preview,
    reason: common.reason(facts),
    blocks: [
      ...paragraph(texts.opening),
      ...paragraph(shows === 'about' ? facts.about : null),
      ...list(common.newsHeading, shows === 'news' ? facts.highlights : []),
      ...paragraph(texts.details),
      ...list(texts.points?.heading, texts.points?.items),
      { kind: 'button', text: texts.button, url: facts.links[button] },
      ...link(texts.link, facts.links.news),
      ...paragraph(texts.ending),
    ],
  });
}

/** The content of an outreach message between its greeting and its signature. */
export interface FramedContent {
  readonly subject: string;
  readonly preview: string;
  readonly blocks: readonly MailBlock[];
  /** Why the recipient gets the message. */
  readonly reason: string;
}

/** Renders an outreach message: content between greeting and signature, and a footer with the link to unsubscribe. */
export function renderFrame(
  language: Language,
  facts: TemplateFacts,
  { subject, preview, blocks, reason }: FramedContent,
): RenderedMail {
  const { greeting, closing, unsubscribe } = languages[language];
  return renderMail({
    language,
    subject,
    preview,
    blocks: [
      ...paragraph(greeting(cleanName(facts.name))),
      ...blocks,
      { kind: 'lines', lines: [closing, facts.sender] },
    ],
    footer: [
      reason,
      ...(facts.postalAddress === null ? [] : [facts.postalAddress]),
      { text: unsubscribe, url: facts.unsubscribeUrl },
    ],
  });
}

function paragraph(text: string | null = null): MailBlock[] {
  return text === null ? [] : [{ kind: 'paragraph', text }];
}

function list(heading: string | null = null, items: readonly string[] = []): MailBlock[] {
  if (items.length === 0) return [];
  const headings: MailBlock[] = heading === null ? [] : [{ kind: 'heading', text: heading }];
  return [...headings, { kind: 'list', items }];
}

function link(text: string | undefined, url: string): MailBlock[] {
  return text === undefined ? [] : [{ kind: 'link', text, url }];
}

const MAX_NAME_CHARACTERS = 100;

/** Line breaks, control characters, and marks that change the direction of text. */
const CONTROLS = /[\p{Cc}\s\u202A-\u202E\u2066-\u2069]+/gu;

/** Returns a name on one line, without control characters and of at most 100 characters; null if nothing remains. */
export function cleanName(name: string | null): string | null {
  const plain = (name ?? '').replaceAll(CONTROLS, ' ').trim();
  const short = Array.from(plain).slice(0, MAX_NAME_CHARACTERS).join('').trim();
  return short === '' ? null : short;
}
