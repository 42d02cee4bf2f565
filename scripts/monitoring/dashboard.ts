/** The dashboard of Grafana, in the types that Grafana publishes. */
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  type Dashboard,
  DashboardCursorSync,
  defaultDashboard,
  FieldColorModeId,
  type FieldConfigSource,
  type GraphFieldConfig,
  LegendDisplayMode,
  type Panel,
  PercentChangeColorMode,
  type RowPanel,
  type SingleStatBaseOptions,
  SortOrder,
  StackingMode,
  ThresholdsMode,
  TooltipDisplayMode,
  type VariableModel,
  VariableRefresh,
  VizOrientation,
  type VizLegendOptions,
  type VizTooltipOptions,
} from '@grafana/schema';

import type { PanelDeclaration, Row } from './panel.ts';
import { ROWS } from './panels.ts';

/** The file of the dashboard in the repository. */
export const DASHBOARD_FILE = 'deploy/grafana/latchkey.json';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

const COLUMNS = 24;
const HEIGHTS = { stat: 4, timeseries: 8 } as const;

/** Returns the dashboard as Grafana imports it: a text in JSON. */
export function renderDashboard(): string {
  return `${JSON.stringify(describeDashboard(), null, 2)}\n`;
}

function describeDashboard(): Dashboard {
  return {
    ...defaultDashboard,
    uid: 'latchkey',
    title: 'Latchkey',
    description: 'The service: health, requests, licenses, payments, e-mail, jobs and database.',
    tags: ['latchkey'],
    schemaVersion: defaultDashboard.schemaVersion,
    graphTooltip: DashboardCursorSync.Crosshair,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: VARIABLES },
    panels: layOut(ROWS),
  };
}

const VARIABLES: VariableModel[] = [
  { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
  describeVariable('job', 'label_values(latchkey_build_info, job)'),
  describeVariable('instance', 'label_values(latchkey_build_info{job=~"$job"}, instance)'),
];

function describeVariable(name: string, query: string): VariableModel {
  return {
    name,
    type: 'query',
    datasource: DATASOURCE,
    query,
    refresh: VariableRefresh.onTimeRangeChanged,
    includeAll: true,
    multi: true,
    current: { text: ['All'], value: ['$__all'] },
  };
}

/** Places the panels of each row from left to right, and numbers them. */
function layOut(rows: readonly Row[]): (Panel | RowPanel)[] {
  const placed: (Panel | RowPanel)[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    const gridPos = { x: 0, y, w: COLUMNS, h: 1 };
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos,
    });
    y += 1;
    let x = 0;
    let height = 0;
    const w = COLUMNS / countPerLine(panels);
    for (const panel of panels) {
      const h = HEIGHTS[panel.type];
      if (x + w > COLUMNS) {
        x = 0;
        y += height;
      }
      placed.push({ id: placed.length + 1, ...describePanel(panel), gridPos: { x, y, w, h } });
      x += w;
      height = h;
    }
    y += height;
  }
  return placed;
}

/** Six numbers, or three or four graphs, so that lines are full. */
function countPerLine(panels: readonly PanelDeclaration[]): number {
  if (panels.every(({ type }) => type === 'stat')) return 6;
  return panels.length % 3 === 0 ? 3 : 4;
}

function describePanel(panel: PanelDeclaration): Panel {
  const { type, title, description, queries } = panel;
  return {
    type,
    title,
    ...(description !== undefined && { description }),
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      editorMode: 'code',
      expr,
      legendFormat: legend,
      range: true,
    })),
    ...(type === 'stat' ? describeStat(panel) : describeGraph(panel)),
  };
}

interface StatOptions extends SingleStatBaseOptions {
  readonly colorMode: BigValueColorMode;
  readonly graphMode: BigValueGraphMode;
  readonly justifyMode: BigValueJustifyMode;
  readonly percentChangeColorMode: PercentChangeColorMode;
  readonly showPercentChange: boolean;
  readonly textMode: BigValueTextMode;
  readonly wideLayout: boolean;
}

function describeStat({ unit, steps = [[null, 'green']], showsName = false }: PanelDeclaration) {
  const options: StatOptions = {
    orientation: VizOrientation.Auto,
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: steps.length > 1 ? BigValueColorMode.Background : BigValueColorMode.None,
    graphMode: BigValueGraphMode.None,
    justifyMode: BigValueJustifyMode.Auto,
    percentChangeColorMode: PercentChangeColorMode.Standard,
    showPercentChange: false,
    textMode: showsName ? BigValueTextMode.Name : BigValueTextMode.Value,
    wideLayout: true,
  };
  const fieldConfig: FieldConfigSource = {
    defaults: {
      unit,
      noValue: 'no data',
      color: { mode: FieldColorModeId.Thresholds },
      thresholds: {
        mode: ThresholdsMode.Absolute,
        steps: steps.map(([value, color]) => ({ value, color })),
      },
    },
    overrides: [],
  };
  return { options: { ...options }, fieldConfig };
}

interface GraphOptions {
  readonly legend: VizLegendOptions;
  readonly tooltip: VizTooltipOptions;
}

function describeGraph({ unit, stacks = false }: PanelDeclaration) {
  const options: GraphOptions = {
    legend: {
      displayMode: LegendDisplayMode.List,
      placement: 'bottom',
      showLegend: true,
      calcs: [],
    },
    tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
  };
  const custom: GraphFieldConfig = {
    fillOpacity: stacks ? 30 : 10,
    lineWidth: 1,
    stacking: { mode: stacks ? StackingMode.Normal : StackingMode.None, group: 'A' },
  };
  const fieldConfig: FieldConfigSource = {
    defaults: {
      unit,
      min: 0,
      color: { mode: FieldColorModeId.PaletteClassic },
      custom: { ...custom },
    },
    overrides: [],
  };
  return { options: { ...options }, fieldConfig };
}
