/** One measurement. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The goal, if any. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Report {
  readonly measuredAt: string;
  readonly machine: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly node: string;
  readonly durability: Readonly<Record<string, string>>;
  readonly measurements: readonly Measurement[];
}

/** Prints a report as a table. */
export function printReport(report: Report): void {
  console.log(
    `\n${report.machine}, ${report.cores} cores, ${report.memoryGigabytes} GB, Node ${report.node}`,
  );
  const settings = Object.entries(report.durability).map(([name, value]) => `${name}=${value}`);
  console.log(`PostgreSQL: ${settings.join(', ')}\n`);
  printMeasurements(report.measurements);
}

/** Formats a line for each measurement, with its goal. */
export function printMeasurements(measurements: readonly Measurement[]): void {
  const width = Math.max(...measurements.map((measurement) => measurement.name.length));
  for (const measurement of measurements) {
    const value = `${format(measurement.value)} ${measurement.unit}`.padEnd(18);
    console.log(`${measurement.name.padEnd(width)}  ${value}${describeGoal(measurement)}`);
  }
}

function describeGoal({ goal, value }: Measurement): string {
  if (goal === undefined) return '';
  const reached = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
  const sign = 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`;
  return `${reached ? 'reached' : 'MISSED '}  ${sign}`;
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** Prints a measurement at once, to show the progress of a long run. */
export function printProgress(text: string): void {
  process.stderr.write(`  ${text}\n`);
}

/** Returns the median; of an even number of values, the upper one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
