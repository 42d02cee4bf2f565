/** Returns the paths of a line and of the area below it. Zero is the lower edge, `highest` the upper one. */
export function drawSparkline(
  values: readonly number[],
  width: number,
  height: number,
  highest: number = Math.max(...values, 0),
): { readonly line: string; readonly area: string } {
  const margin = 1.5;
  const top = highest || 1;
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const y = height - margin - (Math.max(0, value) / top) * (height - 2 * margin);
    return `${round(index * step)} ${round(y)}`;
  });
  const line = points.length === 0 ? '' : `M${points.join('L')}`;
  return { line, area: line === '' ? '' : `${line}L${width} ${height}L0 ${height}Z` };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
