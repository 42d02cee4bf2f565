import type { MailContent } from './mail-content.ts';
import { writeHtml } from './write-html.ts';
import { writeText } from './write-text.ts';

/** A mail in both forms that it is sent in. */
export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Makes HTML and text of one source. */
export function renderMail(content: MailContent): RenderedMail {
  return { subject: content.subject, html: writeHtml(content), text: writeText(content) };
}
