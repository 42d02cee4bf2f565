import { hash } from 'node:crypto';

/**
 * Shows the mail that the console sends by `postMessage`. The scroll position stays, so that typing does not move the
 * preview.
 */
const SCRIPT = `addEventListener('message', (event) => {
  if (event.source !== parent || typeof event.data !== 'string') return;
  const top = document.documentElement.scrollTop;
  const mail = new DOMParser().parseFromString(event.data, 'text/html');
  document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement);
  document.documentElement.scrollTop = top;
});
parent.postMessage('ready', '*');`;

/** The document of the preview: it has no access to the console, loads nothing, and runs only its own script. */
export const PREVIEW_FRAME = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Preview</title>
    <script>${SCRIPT}</script>
  </head>
  <body></body>
</html>
`;

export const PREVIEW_FRAME_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'sha256-${hash('sha256', SCRIPT, 'base64')}'`,
    // The styles of a mail are inline.
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; '),
};
