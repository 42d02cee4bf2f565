import { encodeQR } from 'qr';

import { markup, type Markup } from '#server/pages/markup.ts';

/** The quiet zone around a code (ISO/IEC 18004 §6.3.8), in modules. */
const QUIET = 4;

/** A code of a longer text is too dense for a camera. */
const MAX_CHARACTERS = 1_500;

/**
 * Renders a text as a QR code, black on white in light and dark; null for a text that is too long.
 * @param label what it is, for screen readers
 */
export function qrCode(text: string, label: string): Markup | null {
  if (text.length > MAX_CHARACTERS) return null;
  const rows = encodeQR(text, 'raw', { border: QUIET, ecc: 'low' });
  const size = rows.length;
  const path = rows
    .flatMap((row, y) => runsOf(row).map(([x, width]) => `M${x} ${y}h${width}v1h-${width}z`))
    .join('');
  return markup`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${size}v${size}H0z"/><path fill="#000000" d="${path}"/></svg>`;
}

/** Returns start and length of each run of black modules. */
function runsOf(row: readonly boolean[]): [start: number, length: number][] {
  const runs: [number, number][] = [];
  row.forEach((isBlack, x) => {
    if (!isBlack) return;
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
