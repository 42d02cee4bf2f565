/** A text with something inserted, and what is selected afterwards. */
export interface Insertion {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

type Selection = readonly [start: number, end: number];

/** Replaces the selection by a text; the cursor is after it. */
export function insertText(value: string, [start, end]: Selection, text: string): Insertion {
  const cursor = start + text.length;
  return { value: value.slice(0, start) + text + value.slice(end), start: cursor, end: cursor };
}

interface Around {
  readonly before: string;
  /** Stands between both if nothing is selected. */
  readonly sample: string;
  readonly after: string;
}

/** Makes the selection a paragraph of its own with marks; the text between the marks is selected, to be replaced. */
export function insertBlock(value: string, [start, end]: Selection, around: Around): Insertion {
  const { before, sample, after } = around;
  const selected = value.slice(start, end).trim().replaceAll(/\s+/g, ' ') || sample;
  const head = endWithBlankLine(value.slice(0, start));
  const tail = value.slice(end).trimStart();
  const block = head + before;
  const rest = tail === '' ? '' : `\n\n${tail}`;
  return {
    value: block + selected + after + rest,
    start: block.length,
    end: block.length + selected.length,
  };
}

function endWithBlankLine(text: string): string {
  const trimmed = text.replace(/(?<![ \t])[ \t]+$/, '');
  if (trimmed.trim() === '') return '';
  return `${trimmed.replace(/(?<!\n)\n+$/, '')}\n\n`;
}
