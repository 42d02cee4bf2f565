import type { OutreachLanguage, OutreachTemplate } from '@latchkey/contract';
import type { MailBlock } from '#server/mail/mail-content.ts';
import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { LanguageLetters, TemplateFacts } from './template.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';

const letters: Readonly<Record<OutreachLanguage, LanguageLetters>> = {
  en: english,
  fr: french,
  de: german,
};

/** Writes the letter of a template in one language. */
export function renderTemplate(
  template: OutreachTemplate,
  language: OutreachLanguage,
  facts: TemplateFacts,
): RenderedMail {
  const texts = letters[language];
  const { subject, preview, blocks } = texts[template](facts);
  const framed: MailBlock[] = [
    { kind: 'paragraph', text: texts.greeting(readableName(facts.name)) },
    ...blocks,
    { kind: 'lines', lines: [texts.farewell, facts.sender] },
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

/** Line breaks and the like, and what turns the direction of the text around it. */
const CONTROLS = /[\p{Cc}\s\u202A-\u202E\u2066-\u2069]+/gu;

/**
 * A name as it can stand in a letter and a header: on one line, without characters that control something, of at most 100
 * characters; null when nothing is left of it.
 */
export function readableName(name: string | null): string | null {
  const plain = (name ?? '').replaceAll(CONTROLS, ' ').trim();
  const short = Array.from(plain).slice(0, MAX_NAME_CHARACTERS).join('').trim();
  return short === '' ? null : short;
}
