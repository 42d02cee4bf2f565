import { escapeHtml } from '#server/lib/text.ts';

import { INDEX, type Chapter, type Entry } from './chapters.ts';
import { between, pagePath } from './links.ts';
import type { RenderedDocument } from './render-document.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Renders a page of the site: navigation, document, and the pages before and after it. */
export function renderPage(
  file: string,
  { title, html }: RenderedDocument,
  chapters: readonly Chapter[],
): string {
  const to = (path: string): string => between(file, path);
  const name = file === INDEX ? 'Latchkey' : `${escapeHtml(title)} · Latchkey`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${name}</title>
<link rel="icon" href="${to('icon.svg')}">
<link rel="stylesheet" href="${to('site.css')}">
<script src="${to('site.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to('index.html')}">Latchkey</a>
<search data-root="${to('.') || '.'}">
<input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" aria-controls="hits" hidden>
<ol id="hits" hidden></ol>
</search>
</header>
<nav aria-label="Documentation">
<details open>
<summary>Contents</summary>
${chapters.map((chapter) => renderChapter(file, chapter)).join('\n')}
</details>
</nav>
<main id="content">
${html}
${renderNeighbours(file, chapters)}
</main>
</body>
</html>
`;
}

function renderChapter(file: string, { title, entries }: Chapter): string {
  const links = entries.map((entry) => `<li>${renderLink(file, entry)}</li>`);
  return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`;
}

function renderLink(file: string, entry: Entry, prefix = ''): string {
  const current = entry.file === file ? ' aria-current="page"' : '';
  return `<a href="${between(file, pagePath(entry.file))}"${current}>${prefix}${escapeHtml(entry.title)}</a>`;
}

function renderNeighbours(file: string, chapters: readonly Chapter[]): string {
  const entries = [
    { file: INDEX, title: 'Documentation' },
    ...chapters.flatMap((chapter) => chapter.entries),
  ];
  const at = entries.findIndex((entry) => entry.file === file);
  const [previous, next] = at === -1 ? [] : [entries[at - 1], entries[at + 1]];
  const links = [
    previous === undefined ? '' : renderLink(file, previous, 'Back: '),
    next === undefined ? '' : renderLink(file, next, 'Next: '),
  ];
  return `<footer>${links.join('\n')}</footer>`;
}
