/** The tables of a report. */
import type { Check } from '../audit/check.ts';
import type { FaultWindow } from '../expectations/expectations.ts';
import type { Fault } from '../faults/fault.ts';
import type { SkippedFault } from '../faults/run-faults.ts';
import { OPERATIONS, type Operation } from '../load/operations.ts';
import type { Recorder } from '../load/recorder.ts';
import { Html, html } from './html.ts';
import { formatNumber } from './plot.ts';

/** The checks of the auditor. */
export function renderChecks(checks: readonly Check[]): Html {
  const rows = checks.map(
    ({ compared, problems, promise }) =>
      html`<tr>
        <td>${renderMark(problems.length === 0)}</td>
        <td>
          ${promise}${problems.map((problem) => html`<br /><span class="broken">${problem}</span>`)}
        </td>
        <td class="number">${formatWhole(compared)}</td>
      </tr>`,
  );
  return renderTable(['', 'Promise', numbers('Compared')], rows);
}

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
  return html`${rows.length === 0 ? html`<p>None.</p>` : renderTable(['', 'Fault', 'Outcomes', numbers('Lasted'), numbers('Recovered after')], rows)}
  ${
    skipped.length === 0
      ? html``
      : html`<h3>Skipped</h3>
          <ul>
            ${reasons}
          </ul>`
  }`;
}

function renderFault(window: FaultWindow, number: number, faults: readonly Fault[]): Html {
  const { causeEndedAt, fault, from, outcomes, recoveredAt } = window;
  const effect = faults.find(({ name }) => name === fault.name)?.effect ?? '';
  const seen = Array.from(
    outcomes,
    ([outcome, count]) => html`<li>${outcome}: ${formatWhole(count)}</li>`,
  );
  const end = causeEndedAt ?? from;
  const recovery = recoveredAt === null ? null : recoveredAt - end;
  const isInTime = recovery !== null && recovery <= fault.recoveryMs;
  return html`<tr>
    <td class="number">${number}</td>
    <td><strong>${fault.name}</strong><br />${effect}</td>
    <td>
      ${
        seen.length === 0
          ? 'only normal ones'
          : html`<ul>
              ${seen}
            </ul>`
      }
      <span class="note"
        >allowed:
        ${fault.allowed.length === 0 ? 'only normal ones' : fault.allowed.join(', ')}</span
      >
    </td>
    <td class="number">${formatSeconds(end - from)}</td>
    <td class="number">
      ${renderMark(isInTime)} ${recovery === null ? 'not' : formatSeconds(recovery)}<br />
      <span class="note">limit ${formatSeconds(fault.recoveryMs)}</span>
    </td>
  </tr>`;
}

/** The operations with their latencies and outcomes over the whole day. */
export function renderOperations(recorder: Recorder): Html {
  const rows = OPERATIONS.map((operation) => renderOperation(operation, recorder));
  return renderTable(
    ['Operation', 'Outcomes', numbers('Median ms'), numbers('99 % ms'), numbers('Slowest ms')],
    rows,
  );
}

function renderOperation(operation: Operation, recorder: Recorder): Html {
  const outcomes = Array.from(recorder.outcomes).flatMap(([key, count]) =>
    key.startsWith(`${operation}: `)
      ? [html`<li>${key.slice(operation.length + 2)}: ${formatWhole(count)}</li>`]
      : [],
  );
  const latencies = [0.5, 0.99, 1].map((share) => recorder.percentile(operation, share));
  return html`<tr>
    <td>${operation}</td>
    <td>
      <ul>
        ${outcomes}
      </ul>
    </td>
    ${latencies.map((ms) => html`<td class="number">${ms === null ? '' : formatNumber(ms)}</td>`)}
  </tr>`;
}

/** The heading of a column of numbers. */
const numbers = (heading: string): Html => html`<th class="number" scope="col">${heading}</th>`;

function renderTable(headings: readonly (string | Html)[], rows: readonly Html[]): Html {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${headings.map((each) => (each instanceof Html ? each : html`<th scope="col">${each}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

const renderMark = (isKept: boolean): Html =>
  isKept
    ? html`<span class="kept" title="kept">✔</span>`
    : html`<span class="broken" title="broken">✖</span>`;

const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Formats a whole number with separators. */
export const formatWhole = (number: number): string => number.toLocaleString('en-GB');
