/** What the handlers of all pages for buyers share. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { PublicError } from '#server/errors.ts';
import type { ErrorCode } from '@latchkey/contract/error-catalogue';
import type { App } from '#server/http/app-instance.ts';
import { sendDocument } from '#server/http/send-page.ts';
import { buyerCookie, readBuyerCookie, type BuyerCookie } from '#server/http/session-cookie.ts';

import {
  createPageFrame,
  type PageFrame,
  type SenderSettings,
} from '../suppressions/page-frame.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { KNOWN_BROWSER_TERM_MS, sealKnownBrowser } from './known-browser.ts';
import { findBuyLinks } from './own-licenses.ts';
import { codePage, doorsPage } from './pages/doors.ts';
import { textsOf, toDocument, type BuyerPage } from './pages/frame.ts';
import type { LicenseView } from './pages/license-list.ts';
import { problemPage } from './pages/problem-page.ts';
import { BUYER_POLICY } from './pages/style.ts';
import {
  openSession,
  sealSession,
  SESSION_TERM_MS,
  signOut,
  type BuyerSession,
} from './session.ts';
import type { BuyerTexts } from './texts/texts.ts';

/** The dependencies of the pages. */
export type PageDependencies = BuyerDependencies & SenderSettings;

/** Returns language and sender of the page for a request. */
export function frameOf(deps: PageDependencies, { headers }: FastifyRequest): PageFrame {
  return createPageFrame(deps, headers['accept-language']);
}

/** Returns what the pages of licenses show besides them. */
export function viewOf(deps: PageDependencies, request: FastifyRequest): LicenseView {
  const { products } = deps.catalog();
  return {
    frame: frameOf(deps, request),
    now: deps.clock.now(),
    nameProduct: (id) => products.get(id)?.name ?? id,
    hasMail: deps.mail !== null,
    findBuyLinks: (license) => findBuyLinks(deps, license),
  };
}

export function send(reply: FastifyReply, status: number, page: BuyerPage): FastifyReply {
  return sendDocument(reply, status, toDocument(page), BUYER_POLICY);
}

/** Where a browser goes that should have a cookie now, so that one without cookies gets an explanation. */
export const SIGNED_IN_PATH = '/my?signed-in';

/** Signs a browser in, and shows the licenses; if it keeps the request of a machine, those that answer it. */
export function signIn(
  deps: PageDependencies,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  session: BuyerSession,
): FastifyReply {
  const { publicUrl } = deps.config.http;
  const set = (cookie: BuyerCookie, value: string, termMs: number): string =>
    buyerCookie(headers, publicUrl, cookie, value, termMs / 1000);
  const hasRequest = readBuyerCookie(headers, publicUrl, 'request') !== null;
  const cookies = [set('session', sealSession(deps, session), SESSION_TERM_MS), set('code', '', 0)];
  if (session.door === 'email') {
    cookies.push(set('known', sealKnownBrowser(deps, session.email), KNOWN_BROWSER_TERM_MS));
  }
  return reply
    .header('set-cookie', cookies)
    .redirect(hasRequest ? '/my/offline' : SIGNED_IN_PATH, 303);
}

/** Returns the session of a request; null without one. */
export function sessionOf(
  deps: PageDependencies,
  { headers }: FastifyRequest,
): Promise<BuyerSession | null> {
  return openSession(deps, readBuyerCookie(headers, deps.config.http.publicUrl, 'session'));
}

/** Ends the session of a request, and shows the doors; the next user of the browser finds nothing of this one's. */
export async function endSignIn(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(deps, request);
  if (session !== null) await signOut(deps, session);
  const { publicUrl } = deps.config.http;
  const cookies = (['session', 'code', 'request'] as const).map((cookie) =>
    buyerCookie(request.headers, publicUrl, cookie, '', 0),
  );
  return reply.header('set-cookie', cookies).redirect('/my', 303);
}

/** Runs a handler with the session of a request; without one, the doors are shown. */
export async function signedIn(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: (session: BuyerSession) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const session = await sessionOf(deps, request);
  return session === null ? showSignedOut(deps, request, reply) : handle(session);
}

/** Shows the doors to a browser that was signed in, or should be. */
export function showSignedOut(
  deps: PageDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const frame = frameOf(deps, request);
  const general = textsOf(frame).errors.signedOut;
  return send(reply, 401, doorsPage(frame, deps.mail !== null, { general }));
}

/** Returns a parameter of the query of a request; null without it. */
export function readQuery({ url }: FastifyRequest, name: string): string | null {
  return new URL(url, 'http://localhost').searchParams.get(name);
}

/** Returns seconds as whole minutes, rounded up. */
export function minutesOf(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}

/** Shows problems as pages with their sentence; those without one are failures. */
export function showProblems(app: App, deps: PageDependencies): void {
  app.setErrorHandler(async (error, request, reply) => {
    if (!(error instanceof PublicError)) throw error;
    const sentence = explain(textsOf(frameOf(deps, request)).errors, error);
    if (sentence === null) throw error;
    const page = await choosePage(deps, request, sentence);
    return send(reply.headers(error.headers), error.status, page);
  });
}

/** Returns the page that shows a problem: that of the form that was sent, if the form can be sent again. */
async function choosePage(
  deps: PageDependencies,
  request: FastifyRequest,
  sentence: string,
): Promise<BuyerPage> {
  const frame = frameOf(deps, request);
  if (request.routeOptions.url === '/my/code') return codePage(frame, sentence);
  const isSignedIn = (await sessionOf(deps, request)) !== null;
  return isSignedIn
    ? problemPage(frame, sentence)
    : doorsPage(frame, deps.mail !== null, { general: sentence });
}

function explain(texts: BuyerTexts['errors'], { code, headers }: PublicError): string | null {
  const sentences: Partial<Record<ErrorCode, string>> = {
    license_not_found: texts.notFound,
    activation_not_found: texts.notFound,
    airgap_not_offered: texts.notFound,
    cross_origin: texts.otherOrigin,
    https_required: texts.https,
    payload_too_large: texts.tooLarge,
    mail_not_configured: texts.noMail,
    rate_limited: texts.tooMany(minutesOf(Number(headers['retry-after'] ?? 0))),
  };
  return sentences[code] ?? null;
}
