import type {
  CampaignAudience,
  CampaignProblem,
  CampaignText,
  CampaignTexts,
  Language,
} from '@latchkey/contract';
import { LANGUAGES } from '@latchkey/contract';

import type { MailBlock } from '#server/mail/mail-content.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { languages, renderFrame } from '../templates/render-template.ts';
import type { TemplateFacts } from '../templates/template.ts';
import { parseText } from './parse-text.ts';
import { fillPlaceholders, findPlaceholderFaults, type TextFacts } from './placeholders.ts';

export type AudienceSource = CampaignAudience['source'];

type ReasonTexts = Readonly<
  Record<Exclude<AudienceSource, 'list'>, (facts: TemplateFacts) => string>
>;

/** Why a recipient gets the mail; those of a list get the sentence of the templates. */
const REASONS: Readonly<Record<Language, ReasonTexts>> = {
  en: {
    subscribers: ({ sender }) =>
      `You receive this e-mail because you subscribed to news from ${sender}.`,
    customers: ({ productName }) =>
      `You receive this e-mail because you have a license of ${productName}.`,
  },
  fr: {
    subscribers: () => 'Vous recevez cet e-mail, car vous vous êtes abonné à nos actualités.',
    customers: ({ productName }) =>
      `Vous recevez cet e-mail, car vous avez une licence du logiciel ${productName}.`,
  },
  de: {
    subscribers: ({ sender }) =>
      `Sie erhalten diese E-Mail, weil Sie Neuigkeiten von ${sender} abonniert haben.`,
    customers: ({ productName }) =>
      `Sie erhalten diese E-Mail, weil Sie eine Lizenz für ${productName} haben.`,
  },
};

/**
 * Renders the text of a campaign for one recipient, in the frame of the templates: with greeting, signature, and a footer
 * with the link to unsubscribe.
 */
export function renderCampaign(
  { subject, preview, text }: CampaignText,
  language: Language,
  source: AudienceSource,
  facts: TemplateFacts,
): RenderedMail {
  const fill = (each: string): string => fillPlaceholders(each, facts);
  const { reason } = languages[language];
  return renderFrame(language, facts, {
    subject: toLine(fill(subject)),
    preview: toLine(fill(preview)),
    blocks: parseText(text).map(({ block }) => fillBlock(block, fill)),
    reason: source === 'list' ? reason(facts) : REASONS[language][source](facts),
  });
}

/** A subject must not contain line breaks: they would begin another header field. */
function toLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}

function fillBlock(block: MailBlock, fill: (text: string) => string): MailBlock {
  switch (block.kind) {
    case 'list':
    case 'steps':
      return { ...block, items: block.items.map(fill) };
    case 'lines':
      return { ...block, lines: block.lines.map(fill) };
    case 'button':
    case 'link':
      return { ...block, text: fill(block.text), url: fill(block.url) };
    case 'code':
      return block;
    case 'title':
    case 'heading':
    case 'paragraph':
      return { ...block, text: fill(block.text) };
  }
}

/** Returns what prevents sending the texts of a campaign, in all its languages. */
export function findProblems(
  texts: CampaignTexts,
  defaultLanguage: Language,
  readFacts: (language: Language) => TextFacts,
): CampaignProblem[] {
  const found = LANGUAGES.flatMap((language) => {
    const text = texts[language];
    return text === undefined ? [] : findTextProblems(text, language, readFacts(language));
  });
  if (texts[defaultLanguage] !== undefined) return found;
  const message = 'The text of the default language is missing.';
  return [{ language: defaultLanguage, field: 'text', line: null, message }, ...found];
}

/** Returns what prevents sending a text in one language. */
export function findTextProblems(
  { subject, preview, text }: CampaignText,
  language: Language,
  facts: TextFacts,
): CampaignProblem[] {
  const at = (field: CampaignProblem['field'], line: number | null, message: string) => ({
    language,
    field,
    line,
    message,
  });
  return [
    ...(subject.trim() === '' ? [at('subject', null, 'Write a subject.')] : []),
    ...findPlaceholderFaults(subject, facts).map((fault) => at('subject', null, fault)),
    ...findPlaceholderFaults(preview, facts).map((fault) => at('preview', null, fault)),
    ...(text.trim() === '' ? [at('text', null, 'Write a text.')] : []),
    ...text
      .split(/\r\n|\r|\n/u)
      .flatMap((line, index) =>
        findPlaceholderFaults(line, facts).map((fault) => at('text', index + 1, fault)),
      ),
    ...findLinkFaults(text, facts).map(({ line, fault }) => at('text', line, fault)),
  ].toSorted((a, b) => Number(a.field === 'text') - Number(b.field === 'text'));
}

function findLinkFaults(text: string, facts: TextFacts): { line: number; fault: string }[] {
  return parseText(text).flatMap(({ line, block }) => {
    if (block.kind !== 'button' && block.kind !== 'link') return [];
    if (findPlaceholderFaults(block.url, facts).length > 0) return [];
    return isWebAddress(fillPlaceholders(block.url, facts))
      ? []
      : [{ line, fault: `A link must begin with https:// or http://: ${block.url}` }];
  });
}

function isWebAddress(text: string): boolean {
  const { protocol } = URL.parse(text) ?? {};
  return protocol === 'https:' || protocol === 'http:';
}
