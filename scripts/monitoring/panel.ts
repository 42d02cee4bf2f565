/** How panels of the dashboard are declared. */

/** A query and the name of its lines; `{{label}}` is the value of a label. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A panel of the dashboard. */
export interface PanelDeclaration {
  readonly type: 'stat' | 'timeseries';
  readonly title: string;
  readonly description?: string;
  /** A unit of Grafana. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** The colours of a number: from each value on. Default: none. */
  readonly steps?: readonly (readonly [value: number | null, color: 'green' | 'orange' | 'red'])[];
  /** Shows the name of the line instead of its value. */
  readonly showsName?: boolean;
  /** Stacks the lines, whose sum has a meaning. */
  readonly stacks?: boolean;
}

/** Panels below a heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly PanelDeclaration[];
}

/** The services that the variables of the dashboard select. */
const SELECTED = 'job=~"$job",instance=~"$instance"';

/** Selects a metric of these services. */
export const pick = (name: string, labels = ''): string =>
  `${name}{${SELECTED}${labels === '' ? '' : `,${labels}`}}`;

/** Returns how much a counter of these services grows in a second. */
export const perSecond = (name: string, labels?: string): string =>
  `rate(${pick(name, labels)}[$__rate_interval])`;

/** The histogram of requests. */
export const REQUESTS = 'latchkey_http_request_duration_seconds';

/** Returns a quantile of a histogram. @param by a label whose values have lines of their own */
export const quantile = (rank: number, name: string, by = ''): string =>
  `histogram_quantile(${rank}, sum by (le${by === '' ? '' : `, ${by}`}) (${perSecond(`${name}_bucket`)}))`;

/** Declares a panel with a number. */
export const stat = (
  title: string,
  unit: string,
  expr: string,
  more: Partial<PanelDeclaration> = {},
): PanelDeclaration => ({ type: 'stat', title, unit, queries: [{ expr, legend: title }], ...more });

/** Declares a panel with lines over time. @param queries the name of the lines, and their expression */
export const graph = (
  title: string,
  unit: string,
  queries: readonly (readonly [legend: string, expr: string])[],
  more: Partial<PanelDeclaration> = {},
): PanelDeclaration => ({
  type: 'timeseries',
  title,
  unit,
  queries: queries.map(([legend, expr]) => ({ legend, expr })),
  ...more,
});

/** Green, orange from one value on, red from another. */
export const goodUntil = (warning: number, critical: number) =>
  [
    [null, 'green'],
    [warning, 'orange'],
    [critical, 'red'],
  ] as const;

/** Red, orange from one value on, green from another. */
export const badUntil = (critical: number, warning: number) =>
  [
    [null, 'red'],
    [critical, 'orange'],
    [warning, 'green'],
  ] as const;
