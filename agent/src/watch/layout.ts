import { fitLine, type Line, span } from './text.ts';

/** Lines that belong together; the first one is their title. */
export type Panel = readonly Line[];

/** What a title and a few lines need; below it, a panel makes room for others. */
const MIN_PANEL_LINES = 5;

/**
 * Spreads panels over columns, each to where most room is left, the first ones first.
 * @param fixed what stands on top of the first column
 */
export function spreadPanels(
  fixed: Panel,
  panels: readonly Panel[],
  columns: number,
): readonly (readonly Panel[])[] {
  const spread: Panel[][] = Array.from({ length: columns }, () => []);
  const heights = spread.map((_, at) => (at === 0 ? fixed.length : 0));
  for (const panel of panels) {
    const at = heights.indexOf(Math.min(...heights));
    spread[at]?.push(panel);
    heights[at] = (heights[at] ?? 0) + panel.length;
  }
  return spread.map((each, at) => (at === 0 ? [fixed, ...each] : each));
}

/**
 * Shortens panels until they fit: the longest by a line at a time, then the last as a whole. Those before it get the room
 * that it leaves.
 */
export function shortenPanels(panels: readonly Panel[], height: number): readonly Panel[] {
  const limits = panels.map((panel) => panel.length);
  const sum = (): number => limits.reduce((total, each) => total + each, 0);
  while (sum() > height) {
    const most = Math.max(...limits.slice(1));
    if (most <= MIN_PANEL_LINES) break;
    const at = limits.lastIndexOf(most);
    limits[at] = most - 1;
  }
  while (limits.length > 1 && sum() > height) limits.pop();
  for (const [at, limit] of limits.entries()) {
    const missing = (panels[at]?.length ?? 0) - limit;
    limits[at] = limit + Math.max(0, Math.min(missing, height - sum()));
  }
  return limits.map((limit, at) => cutPanel(panels[at] ?? [], Math.min(limit, height)));
}

function cutPanel(panel: Panel, length: number): Panel {
  if (panel.length <= length) return panel;
  const hidden = panel.length - length + 1;
  return [...panel.slice(0, length - 1), [span(`… ${hidden} more`, 'dim')]];
}

/** Puts columns of lines beside each other. */
export function joinColumns(
  columns: readonly (readonly Line[])[],
  width: number,
  gap: number,
): Line[] {
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    columns.flatMap((lines, at) => [
      ...(at === 0 ? [] : [span(' '.repeat(gap))]),
      ...fitLine(lines[row] ?? [], width),
    ]),
  );
}
