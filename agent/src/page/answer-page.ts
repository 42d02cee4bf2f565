import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip as gunzipCallback, gzip as gzipCallback } from 'node:zlib';

import type { PageName } from './page-source.ts';

/**
 * Sends a page. It contains no figures: the WebSocket, which authenticates, sends them.
 * @param request a GET or HEAD
 * @throws Error when the page cannot be built
 */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  name: PageName,
): Promise<void> {
  const page = await openPage(name);
  const { headers } = request;
  if (headers['if-none-match'] === page.entityTag) {
    response.writeHead(304, toHeaders(page)).end();
    return;
  }
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/iu.test(
    headers['accept-encoding'] ?? '',
  );
  const body = isCompressed ? page.gzipped : await gunzip(page.gzipped);
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
const gunzip = promisify(gunzipCallback);

/** A page with its headers. */
interface PageDocument {
  /** Kept only like this, as all browsers request it: a third of the memory. */
  readonly gzipped: Buffer;
  /** The quoted entity tag. */
  readonly entityTag: string;
  /** Allows only the page's own styles and scripts, by their digests. */
  readonly contentSecurityPolicy: string;
}

const STYLE = { begin: /<style>/, end: '</style>' };
const SCRIPT = { begin: /<script(?: type="module")?>/, end: '</script>' };

/** Where the scripts of a page connect to. */
const CONNECTIONS: Readonly<Record<PageName, string>> = {
  // The WebSocket, and the request for the reason of a refusal.
  live: "'self'",
  // The viewer lists the machines, so no policy can name them.
  fleet: 'wss: https:',
};

const documents = new Map<PageName, Promise<PageDocument>>();

/** Returns a page, built at the first request and cached: 45 kB. @throws Error when it cannot be built */
async function openPage(name: PageName): Promise<PageDocument> {
  const document = documents.get(name) ?? buildPage(name);
  documents.set(name, document);
  try {
    return await document;
  } catch (error) {
    // The next request retries.
    documents.delete(name);
    throw error;
  }
}

async function buildPage(name: PageName): Promise<PageDocument> {
  const { readPageSource } = await import('./page-source.ts');
  return describePage(await readPageSource(name), CONNECTIONS[name]);
}

/**
 * Computes the headers of a page.
 * @param html contains all styles and scripts, none in attributes
 * @param connections of its scripts
 */
async function describePage(html: string, connections: string): Promise<PageDocument> {
  return {
    gzipped: await gzip(html, { level: 9 }),
    entityTag: `"${digest(html).slice(0, 22)}"`,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src ${listDigests(html, SCRIPT)}`,
      `style-src ${listDigests(html, STYLE)}`,
      'img-src data:',
      `connect-src ${connections}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
  };
}

function listDigests(html: string, { begin, end }: typeof STYLE): string {
  const [, ...elements] = html.split(begin);
  const texts = elements.map((element) => element.slice(0, element.indexOf(end)));
  return texts.map((text) => `'sha256-${digest(text)}'`).join(' ');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
