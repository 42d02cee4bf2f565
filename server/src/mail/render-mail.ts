import type { MailBlock, MailContent, MailLink } from './mail-content.ts';
import { renderHtml } from './render-html.ts';

/** A mail as HTML and as plain text. */
export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

export function renderMail(content: MailContent): RenderedMail {
  return { subject: content.subject, html: renderHtml(content), text: renderText(content) };
}

function renderText({ blocks, footer }: MailContent): string {
  const footerLines = footer.map((line) => (typeof line === 'string' ? line : linkToText(line)));
  const parts = [...blocks.map(blockToText), `---\n${footerLines.join('\n')}`];
  return `${parts.join('\n\n')}\n`;
}

function linkToText({ text, url }: MailLink): string {
  return `${text}\n${url}`;
}

function blockToText(block: MailBlock): string {
  switch (block.kind) {
    case 'title':
      return `${block.text}\n${'='.repeat(block.text.length)}`;
    case 'heading':
      return `${block.text}\n${'-'.repeat(block.text.length)}`;
    case 'paragraph':
      return block.text;
    case 'code':
      return `${block.label}\n\n    ${block.code}\n\n${block.note}`;
    case 'steps':
      return block.items.map((item, index) => `${index + 1}. ${item}`).join('\n');
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n');
    case 'button':
    case 'link':
      return linkToText(block);
    case 'lines':
      return block.lines.join('\n');
  }
}
