import { createHash } from 'node:crypto';

import { escapeHtml } from '#server/lib/text.ts';

import type { PageLanguage } from './page-language.ts';

/** Pages for people who follow a link of an e-mail. All texts are plain and are escaped. */
export interface PageContent {
  readonly language: PageLanguage;
  /** The name of the sender. */
  readonly sender: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The label of the button, which posts to the page's own address; null: no button. */
  readonly button: string | null;
  /** Small text at the end; null: none. */
  readonly note: string | null;
}

const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#f3f4f6, #14161a);
  --card: light-dark(#ffffff, #1e2127);
  --line: light-dark(#d3d8de, #343941);
  --ink: light-dark(#14181f, #f2f4f7);
  --plain: light-dark(#333a45, #d5d9e0);
  --quiet: light-dark(#5d6675, #a3aab6);
  --button: light-dark(#1d4ed8, #9db8ff);
  --label: light-dark(#ffffff, #10131a);
}
body {
  margin: 0;
  padding: clamp(0px, 8vh - 1rem, 5rem) 0;
  background: var(--back);
  color: var(--plain);
  font: 1rem/1.55 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
main {
  box-sizing: border-box;
  max-width: 35rem;
  margin: 0 auto;
  padding: clamp(1.5rem, 6vw, 2.5rem);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 12px;
}
h1 { margin: 0.25rem 0 1rem; color: var(--ink); font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
p { margin: 0 0 1rem; }
p:last-child { margin: 0; }
small { color: var(--quiet); font-size: 0.875rem; }
form { margin: 1.5rem 0; }
button {
  min-height: 44px;
  padding: 0.6rem 1.4rem;
  border: 2px solid transparent;
  border-radius: 8px;
  background: var(--button);
  color: var(--label);
  font: 600 1rem/1.3 system-ui, sans-serif;
  cursor: pointer;
}
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 3px; }
@media (max-width: 35rem) {
  body { padding: 0; }
  main { min-height: 100vh; border: 0; border-radius: 0; }
}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The content security policy: the page's own style, and posts to its own origin. No script runs and nothing is loaded. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders a page of HTML, which is readable without its style. */
export function renderPage(content: PageContent): string {
  const { language, sender, title, paragraphs, button, note } = content;
  const body = [
    `<p><small>${escapeHtml(sender)}</small></p>`,
    `<h1>${escapeHtml(title)}</h1>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    ...(button === null
      ? []
      : [`<form method="post"><button type="submit">${escapeHtml(button)}</button></form>`]),
    ...(note === null ? [] : [`<p><small>${escapeHtml(note)}</small></p>`]),
  ];
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body.join('\n')}
</main>
</body>
</html>
`;
}

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

/** Returns the page of an internal error. */
export function failurePage(language: PageLanguage, sender: string): PageContent {
  return { ...texts[language], language, sender, button: null, note: null };
}
