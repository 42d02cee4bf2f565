import { inspect } from 'node:util';

import type { Line, Style } from './text.ts';

/** Lines as text; with colours where the terminal has them. */
export function renderLines(lines: readonly Line[], hasColours: boolean): string[] {
  return lines.map((line) =>
    line.map(({ text, style }) => (hasColours ? paint(text, style) : text)).join(''),
  );
}

function paint(text: string, style: Style): string {
  const codes = style === 'plain' ? undefined : inspect.colors[style];
  return codes === undefined ? text : `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`;
}
