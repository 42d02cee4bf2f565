import type { MailBlock, MailContent, MailLink } from './mail-content.ts';

/** Writes a mail as plain text. */
export function writeText({ blocks, footer }: MailContent): string {
  const smallPrint = footer.map((line) => (typeof line === 'string' ? line : linkToText(line)));
  const parts = [...blocks.map(blockToText), `---\n${smallPrint.join('\n')}`];
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
