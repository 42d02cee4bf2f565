import type { MailBlock } from '#server/mail/mail-content.ts';

/** A part of a text, and its first line, from 1. */
export interface TextBlock {
  readonly line: number;
  readonly block: MailBlock;
}

const HEADING = /^#\s+(?<text>\S.*)$/u;
const ITEM = /^[-*•]\s+(?<text>\S.*)$/u;
const STEP = /^\d{1,2}[.)]\s+(?<text>\S.*)$/u;
/** The whole line: `[text](url)`, and `[[text]](url)` for a button. */
const BUTTON = /^\[\[(?<text>[^\]]+)\]\]\((?<url>[^\s()]+)\)$/u;
const LINK = /^\[(?<text>[^[\]]+)\]\((?<url>[^\s()]+)\)$/u;

type GroupKind = 'lines' | 'list' | 'steps';

/**
 * Parses the text of a campaign. Lines without a mark form paragraphs, which end at an empty line or at a marked one; their
 * line breaks remain. Placeholders are replaced afterwards, so that a name cannot form a block.
 */
export function parseText(text: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  let group: { kind: GroupKind | null; line: number; items: string[] } = {
    kind: null,
    line: 0,
    items: [],
  };
  for (const [index, raw] of `${text}\n`.split(/\r\n|\r|\n/u).entries()) {
    const line = raw.trim();
    const single = parseSingle(line);
    const [kind, item] = single === null && line !== '' ? parseLine(line) : [null, ''];
    if (kind !== group.kind) {
      if (group.kind !== null) {
        blocks.push({ line: group.line, block: toBlock(group.kind, group.items) });
      }
      group = { kind, line: index + 1, items: [] };
    }
    group.items.push(item);
    if (single !== null) blocks.push({ line: index + 1, block: single });
  }
  return blocks;
}

function parseSingle(line: string): MailBlock | null {
  const heading = HEADING.exec(line)?.groups?.['text'];
  if (heading !== undefined) return { kind: 'heading', text: heading };
  const button = BUTTON.exec(line)?.groups;
  if (button !== undefined) return { kind: 'button', ...toLink(button) };
  const link = LINK.exec(line)?.groups;
  return link === undefined ? null : { kind: 'link', ...toLink(link) };
}

function toLink({ text = '', url = '' }: Readonly<Record<string, string>>) {
  return { text: text.trim(), url };
}

function parseLine(line: string): [GroupKind, string] {
  const item = ITEM.exec(line)?.groups?.['text'];
  if (item !== undefined) return ['list', item];
  const step = STEP.exec(line)?.groups?.['text'];
  return step === undefined ? ['lines', line] : ['steps', step];
}

function toBlock(kind: GroupKind, items: readonly string[]): MailBlock {
  if (kind !== 'lines') return { kind, items };
  const [only = ''] = items;
  return items.length === 1 ? { kind: 'paragraph', text: only } : { kind: 'lines', lines: items };
}
