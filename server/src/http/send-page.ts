import type { FastifyReply, FastifyRequest } from 'fastify';

import {
  failurePage,
  PAGE_POLICY,
  renderPage,
  type PageContent,
} from '#server/pages/render-page.ts';
import { renderDocument, type PageDocument } from '#server/pages/render-document.ts';
import { choosePageLanguage } from '#server/pages/page-language.ts';

import type { App } from './app-instance.ts';
import { PROBLEM_TYPE } from './problem.ts';

/** Sends a page for people. */
export function sendPage(reply: FastifyReply, status: number, content: PageContent): FastifyReply {
  return reply.code(status).headers(pageHeaders(content)).send(renderPage(content));
}

/** Sends a page for people that a feature renders. @param policy its content security policy */
export function sendDocument(
  reply: FastifyReply,
  status: number,
  document: PageDocument,
  policy: string,
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...pageHeaders(document), 'content-security-policy': policy })
    .send(renderDocument(document));
}

function pageHeaders({ language }: { readonly language: string }): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': PAGE_POLICY,
    vary: 'Accept-Language',
  };
}

/**
 * Sends a page instead of problem details; for an encapsulated instance whose routes are pages.
 * @param nameSender returns the sender's name on the page
 */
export function showFailuresAsPages(app: App, nameSender: () => string): void {
  app.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    if (reply.getHeader('content-type') !== PROBLEM_TYPE) return payload;
    const language = choosePageLanguage(request.headers['accept-language']) ?? 'en';
    const content = failurePage(language, nameSender());
    reply.headers(pageHeaders(content)).removeHeader('content-length');
    return renderPage(content);
  });
}
