import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';

/**
 * Sends the live page. It contains no figures: the WebSocket, which authenticates, sends them.
 * @param request a GET or HEAD
 * @throws Error when the page cannot be built
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
    // Cached, but revalidated each time, so that a new agent delivers its new page.
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

const gzip = promisify(gzipCallback);

/** The live page with its headers. */
interface PageDocument {
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** The quoted entity tag. */
  readonly entityTag: string;
  /** Allows only the page's own styles and scripts, by their digests. */
  readonly contentSecurityPolicy: string;
}

const STYLE = /<style>(?<text>[^]*?)<\/style>/g;
const SCRIPT = /<script(?: type="module")?>(?<text>[^]*?)<\/script>/g;

let document: Promise<PageDocument> | null = null;

/** Returns the page, built at the first request and cached: 160 kB. @throws Error when it cannot be built */
async function openPage(): Promise<PageDocument> {
  document ??= buildPage();
  try {
    return await document;
  } catch (error) {
    // The next request retries.
    document = null;
    throw error;
  }
}

async function buildPage(): Promise<PageDocument> {
  const { readPageSource } = await import('./page-source.ts');
  return describePage(await readPageSource());
}

/** Computes the headers of a page. @param html contains all styles and scripts, none in attributes */
async function describePage(html: string): Promise<PageDocument> {
  const body = Buffer.from(html);
  return {
    body,
    gzipped: await gzip(body, { level: 9 }),
    entityTag: `"${digest(html).slice(0, 22)}"`,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src ${listDigests(html, SCRIPT)}`,
      `style-src ${listDigests(html, STYLE)}`,
      'img-src data:',
      // The WebSocket, and the request for the reason of a refusal.
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
  };
}

function listDigests(html: string, pattern: RegExp): string {
  const texts = Array.from(html.matchAll(pattern), ({ groups }) => groups?.['text'] ?? '');
  return texts.map((text) => `'sha256-${digest(text)}'`).join(' ');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
