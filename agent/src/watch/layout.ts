import { fitLine, type Line, span } from './text.ts';

/** A group of lines; the first one is the title. */
export type Panel = readonly Line[];

/** Panels are not shortened below this. */
const MIN_PANEL_LINES = 5;

/**
 * Distributes panels over columns, each to the shortest one.
 * @param fixed the top of the first column
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
 * Shortens panels until they fit: the longest line by line, then drops the last ones. The others get the room that is left.
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

/** Joins columns of lines side by side. */
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
