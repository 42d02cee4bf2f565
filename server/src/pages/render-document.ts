import { createHash } from 'node:crypto';

import { markup, trustMarkup, type Markup } from './markup.ts';
import type { Language } from '@latchkey/contract';

/** The style of every page for people. */
export const PAGE_STYLE = `
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

/** A page for people, readable without its style. */
export interface PageDocument {
  readonly language: Language;
  readonly title: string;
  /** CSS; the policy must allow it. */
  readonly style: string;
  /** The content of `main`. */
  readonly content: Markup;
}

/** Renders a page of HTML. */
export function renderDocument({ language, title, style, content }: PageDocument): string {
  const { source } = markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${trustMarkup(style)}</style>
</head>
<body>
<main>
${content}</main>
</body>
</html>
`;
  return source;
}

/** Creates a content security policy: one style, and posts to the own origin. No script runs and nothing is loaded. */
export function createPagePolicy(style: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
