import type { IncomingMessage, ServerResponse } from 'node:http';

import { openPage, type PageDocument } from './page-document.ts';

/**
 * Answers with the live page. It holds no figures: those come by the WebSocket, which asks who is there.
 * @param request a GET or HEAD
 * @throws Error when the page cannot be made
 */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const page = await openPage();
  const { headers } = request;
  if (headers['if-none-match'] === page.entityTag) {
    response.writeHead(304, toHeaders(page)).end();
    return;
  }
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/iu.test(
    headers['accept-encoding'] ?? '',
  );
  const body = isCompressed ? page.gzipped : page.body;
  response.writeHead(200, {
    ...toHeaders(page),
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.end(body);
}

function toHeaders({ entityTag, contentSecurityPolicy }: PageDocument) {
  return {
    ETag: entityTag,
    // Kept, but asked for each time, so that a new agent brings its new page.
    'Cache-Control': 'no-cache',
    Vary: 'Accept-Encoding',
    'Content-Security-Policy': contentSecurityPolicy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
}
