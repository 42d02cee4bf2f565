import { drawSparkline } from './sparkline-path.ts';

interface SparklineProps {
  /** Oldest first. */
  readonly values: readonly number[];
  /** An earlier period, drawn dashed on the same scale. */
  readonly before?: readonly number[];
  /** For screen readers. */
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 28;

/** A small line chart without axes; zero is its lower edge. */
export function Sparkline({ values, before = [], label }: SparklineProps) {
  const top = Math.max(...values, ...before, 0);
  const { line, area } = drawSparkline(values, WIDTH, HEIGHT, top);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="area" d={area} />
      {before.length > 1 && (
        <path class="before" d={drawSparkline(before, WIDTH, HEIGHT, top).line} />
      )}
      <path class="line" d={line} />
    </svg>
  );
}
