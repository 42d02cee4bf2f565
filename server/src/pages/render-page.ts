import { markup } from './markup.ts';
import type { Language } from '@latchkey/contract';
import { createPagePolicy, PAGE_STYLE, renderDocument } from './render-document.ts';

/** Pages for people who follow a link of an e-mail. All texts are plain and are escaped. */
export interface PageContent {
  readonly language: Language;
  /** The name of the sender. */
  readonly sender: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The label of the button, which posts to the page's own address; null: no button. */
  readonly button: string | null;
  /** Small text at the end; null: none. */
  readonly note: string | null;
}

/** The content security policy of these pages. */
export const PAGE_POLICY = createPagePolicy(PAGE_STYLE);

/** Renders a page of HTML, which is readable without its style. */
export function renderPage(content: PageContent): string {
  const { language, sender, title, paragraphs, button, note } = content;
  const body = [
    markup`<p><small>${sender}</small></p>`,
    markup`<h1>${title}</h1>`,
    ...paragraphs.map((text) => markup`<p>${text}</p>`),
    button !== null && markup`<form method="post"><button type="submit">${button}</button></form>`,
    note !== null && markup`<p><small>${note}</small></p>`,
  ];
  const lines = body.filter((line) => line !== false).map((line) => markup`${line}\n`);
  return renderDocument({ language, title, style: PAGE_STYLE, content: markup`${lines}` });
}

type FailureTexts = Pick<PageContent, 'title' | 'paragraphs'>;

const texts: Readonly<Record<Language, FailureTexts>> = {
  en: {
    title: 'That did not work',
    paragraphs: ['Something went wrong on our side. Please try again in a few minutes.'],
  },
  fr: {
    title: 'Cela n’a pas fonctionné',
    paragraphs: [
      'Une erreur s’est produite de notre côté. Réessayez dans quelques minutes, s’il vous plaît.',
    ],
  },
  de: {
    title: 'Das hat nicht geklappt',
    paragraphs: [
      'Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es in ein paar Minuten noch einmal.',
    ],
  },
};

/** Returns the page of an internal error. */
export function failurePage(language: Language, sender: string): PageContent {
  return { ...texts[language], language, sender, button: null, note: null };
}
