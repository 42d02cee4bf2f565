import type { PageLanguage } from './page-language.ts';
import type { PageContent } from './render-page.ts';

type FailureTexts = Pick<PageContent, 'title' | 'paragraphs'>;

const texts: Readonly<Record<PageLanguage, FailureTexts>> = {
  en: {
    title: 'That did not work',
    paragraphs: ['Something went wrong on our side. Please open the link again in a few minutes.'],
  },
  fr: {
    title: 'Cela n’a pas fonctionné',
    paragraphs: [
      'Une erreur s’est produite de notre côté. Rouvrez le lien dans quelques minutes, s’il vous plaît.',
    ],
  },
  de: {
    title: 'Das hat nicht geklappt',
    paragraphs: [
      'Bei uns ist etwas schiefgegangen. Bitte öffnen Sie den Link in ein paar Minuten noch einmal.',
    ],
  },
};

/** What stands in the place of a page that could not be made. */
export function failurePage(language: PageLanguage, sender: string): PageContent {
  return { ...texts[language], language, sender, button: null, note: null };
}
