import { errorCatalogue } from '@latchkey/contract/error-catalogue';

/** The page of the interface document. Its links are relative, so that it also works behind a path prefix. */
export const documentationPage = page(
  'Latchkey: the interface',
  `<div id="docs"><noscript><div class="page">This page needs JavaScript; the document itself is
<a href="openapi.json">openapi.json</a>.</div></noscript></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/docs.js"></script>`,
  { base: 'docs/', styles: ['swagger-ui.css', 'docs.css'] },
);

/** Renders the page of all error codes, which the `type` of a problem links to. */
export function renderErrorPage(): string {
  const entries = Object.entries(errorCatalogue).map(
    ([code, { status, meaning }]) =>
      `<dt id="${code}"><code>${code}</code> <span>${status}</span></dt><dd>${asHtml(meaning)}</dd>`,
  );
  return page(
    'Latchkey: error codes',
    `<main class="page">
<h1>Error codes</h1>
<p>Every refusal but 422 is a problem (RFC 9457) whose <code>code</code> is one of these, always with the same status.
A request that does not fit its schema is answered with 422 and a list of faults. <a href="../docs">All operations</a></p>
<dl>
${entries.join('\n')}
</dl>
</main>`,
    { base: '', styles: ['docs.css'] },
  );
}

function page(
  title: string,
  body: string,
  { base, styles }: { readonly base: string; readonly styles: readonly string[] },
): string {
  const links = styles.map((style) => `<link rel="stylesheet" href="${base}${style}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${links.join('\n')}
</head>
<body>
${body}
</body>
</html>
`;
}

/** The catalogue is part of the program and contains no markup but code marks. */
function asHtml(text: string): string {
  return text.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
