/** One thing that was measured. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is to reach, when it is to reach something. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Report {
  readonly measuredAt: string;
  readonly machine: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly durability: Readonly<Record<string, string>>;
  readonly figures: readonly Figure[];
}

/** Prints a report as a table. */
export function printReport(report: Report): void {
  console.log(
    `\n${report.machine}, ${report.cores} cores, ${report.memoryGigabytes} GB, Node ${report.node}`,
  );
  const settings = Object.entries(report.durability).map(([name, value]) => `${name}=${value}`);
  console.log(`PostgreSQL: ${settings.join(', ')}\n`);
  printFigures(report.figures);
}

/** A line for each figure, and whether it reaches its goal. */
export function printFigures(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  for (const figure of figures) {
    const value = `${format(figure.value)} ${figure.unit}`.padEnd(18);
    console.log(`${figure.name.padEnd(width)}  ${value}${describeGoal(figure)}`);
  }
}

function describeGoal({ goal, value }: Figure): string {
  if (goal === undefined) return '';
  const reached = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
  const sign = 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
  return `${reached ? 'reached' : 'MISSED '}  ${sign}`;
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** Prints what was just measured, so that a long run shows how far it is. */
export function printProgress(text: string): void {
  process.stderr.write(`  ${text}\n`);
}

/** The middle value; of an even number, the upper middle one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
