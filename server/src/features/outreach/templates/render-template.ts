import type { OutreachLanguage, OutreachTemplate } from '@latchkey/contract';
import type { MailBlock } from '#server/mail/mail-content.ts';
import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { LanguageTemplates, TemplateFacts } from './template.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';

const templates: Readonly<Record<OutreachLanguage, LanguageTemplates>> = {
  en: english,
  fr: french,
  de: german,
};

/** Renders a template in one language. */
export function renderTemplate(
  template: OutreachTemplate,
  language: OutreachLanguage,
  facts: TemplateFacts,
): RenderedMail {
  const texts = templates[language];
  const { subject, preview, blocks } = texts[template](facts);
  const framed: MailBlock[] = [
    { kind: 'paragraph', text: texts.greeting(cleanName(facts.name)) },
    ...blocks,
    { kind: 'lines', lines: [texts.closing, facts.sender] },
  ];
  return renderMail({
    language,
    subject,
    preview,
    blocks: framed,
    footer: [
      texts.reason(facts),
      ...(facts.postalAddress === null ? [] : [facts.postalAddress]),
      { text: texts.unsubscribe, url: facts.unsubscribeUrl },
    ],
  });
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
