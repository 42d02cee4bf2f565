/** The tables of a report. */
import type { Check } from '../audit/check.ts';
import type { FaultWindow } from '../expectations/expectations.ts';
import type { Fault } from '../faults/fault.ts';
import type { SkippedFault } from '../faults/run-faults.ts';
import { OPERATIONS, type Operation } from '../load/operations.ts';
import type { Recorder } from '../load/recorder.ts';
import { html, type Html } from './html.ts';
import { formatNumber } from './plot.ts';

interface Column {
  readonly label: string;
  readonly isNumber?: boolean;
}

const NOTHING = html``;
const ONLY_NORMAL = 'only normal ones';

/** The checks of the auditor. */
export function renderChecks(checks: readonly Check[]): Html {
  const rows = checks.map(({ compared, problems, promise }) => [
    renderMark(problems.length === 0),
    html`${promise}${problems.map((each) => html`<br /><span class="broken">${each}</span>`)}`,
    html`${formatWhole(compared)}`,
  ]);
  return renderTable(
    [{ label: '' }, { label: 'Promise' }, { label: 'Compared', isNumber: true }],
    rows,
  );
}

const FAULT_COLUMNS: readonly Column[] = [
  { label: '' },
  { label: 'Fault' },
  { label: 'Outcomes' },
  { label: 'Lasted', isNumber: true },
  { label: 'Recovered after', isNumber: true },
];

/** The faults with what was seen. @param faults those that were caused */
export function renderFaults(
  windows: readonly FaultWindow[],
  faults: readonly Fault[],
  skipped: readonly SkippedFault[],
): Html {
  const rows = windows.map((window, index) => renderFault(window, index + 1, faults));
  const reasons = skipped.map(
    ({ name, reason }) => html`<li><strong>${name}</strong>: ${reason}</li>`,
  );
  const table = rows.length === 0 ? html`<p>None.</p>` : renderTable(FAULT_COLUMNS, rows);
  const list =
    reasons.length === 0
      ? NOTHING
      : html`<h3>Skipped</h3>
          <ul>
            ${reasons}
          </ul>`;
  return html`${table}${list}`;
}

function renderFault(window: FaultWindow, number: number, faults: readonly Fault[]): Html[] {
  const { causeEndedAt, fault, from, outcomes, recoveredAt } = window;
  const effect = faults.find(({ name }) => name === fault.name)?.effect ?? '';
  const end = causeEndedAt ?? from;
  const recovery = recoveredAt === null ? null : recoveredAt - end;
  const isInTime = recovery !== null && recovery <= fault.recoveryMs;
  const allowed = fault.allowed.length === 0 ? ONLY_NORMAL : fault.allowed.join(', ');
  return [
    html`${number}`,
    html`<strong>${fault.name}</strong><br />${effect}`,
    html`${renderOutcomes([...outcomes])}<span class="note">allowed: ${allowed}</span>`,
    html`${formatSeconds(end - from)}`,
    html`${renderMark(isInTime)} ${recovery === null ? 'not' : formatSeconds(recovery)}
      <span class="note">of ${formatSeconds(fault.recoveryMs)}</span>`,
  ];
}

const OPERATION_COLUMNS: readonly Column[] = [
  { label: 'Operation' },
  { label: 'Outcomes' },
  { label: 'Median ms', isNumber: true },
  { label: '99 % ms', isNumber: true },
  { label: 'Slowest ms', isNumber: true },
];

/** The operations with their latencies and outcomes over the whole day. */
export function renderOperations(recorder: Recorder): Html {
  const rows = OPERATIONS.map((operation) => renderOperation(operation, recorder));
  return renderTable(OPERATION_COLUMNS, rows);
}

function renderOperation(operation: Operation, recorder: Recorder): Html[] {
  const prefix = `${operation}: `;
  const outcomes = Array.from(recorder.outcomes)
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, count]) => [key.slice(prefix.length), count] as const);
  const latencies = [0.5, 0.99, 1].map((share) => recorder.percentile(operation, share));
  return [
    html`<strong>${operation}</strong>`,
    renderOutcomes(outcomes),
    ...latencies.map((ms) => html`${ms === null ? '' : formatNumber(ms)}`),
  ];
}

function renderOutcomes(outcomes: readonly (readonly [outcome: string, count: number])[]): Html {
  if (outcomes.length === 0) return html`<p>${ONLY_NORMAL}</p>`;
  const items = outcomes.map(
    ([outcome, count]) => html`<li>${outcome}: ${formatWhole(count)}</li>`,
  );
  return html`<ul>
    ${items}
  </ul>`;
}

/** Renders a table. On a narrow page each row is a block, and its numbers show the headings of their columns. */
function renderTable(columns: readonly Column[], rows: readonly (readonly Html[])[]): Html {
  const headings = columns.map(
    ({ isNumber = false, label }) =>
      html`<th scope="col" class="${isNumber ? 'number' : ''}">${label}</th>`,
  );
  const body = rows.map(
    (cells) =>
      html`<tr>
        ${cells.map((cell, index) => renderCell(cell, columns[index]))}
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        ${headings}
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`;
}

function renderCell(cell: Html, column: Column | undefined): Html {
  if (column?.isNumber !== true) return html`<td>${cell}</td>`;
  return html`<td class="number" data-label="${column.label}">${cell}</td>`;
}

const renderMark = (isKept: boolean): Html =>
  isKept
    ? html`<span class="kept" title="kept">✔</span>`
    : html`<span class="broken" title="broken">✖</span>`;

const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Formats a whole number with separators. */
export const formatWhole = (number: number): string => number.toLocaleString('en-GB');
