import { describeMachine } from '../../bench/lib/machine.ts';
import { html, Html } from './html.ts';
import { renderPlot } from './plot.ts';
import { createTimeAxis, listPlots } from './plots.ts';
import { describeUnsent, describeVerdict, type Verdict } from '../verdict.ts';
import type { SoakReport } from './report.ts';
import { STYLES } from './styles.ts';
import { formatWhole, renderChecks, renderFaults, renderOperations } from './tables.ts';

/** Renders a report as one document without scripts and without other files. */
export function renderPage(report: SoakReport, createdAt: Date): string {
  const { broken, checks, day, options, verdict, windows } = report;
  const axis = createTimeAxis(day, options.minutes * 60_000, windows);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <title>Soak: ${verdict === 'broken' ? 'broken promises' : verdict}</title>
        <style>
          ${new Html(STYLES)}
        </style>
      </head>
      <body>
        <h1>A simulated day of ${formatWhole(options.machines)} machines</h1>
        ${renderVerdict(verdict, broken)} ${renderFacts(report, createdAt)}
        <h2>Over the day</h2>
        ${windows.length === 0 ? html`` : html`<p class="note">Shaded: faults until their recovery, with their number in the table below.</p>`}
        <div class="plots">${listPlots(day).map((plot) => renderPlot(plot, axis))}</div>
        <h2>What was compared</h2>
        ${renderChecks(checks)}
        <h2>Faults</h2>
        ${renderFaults(windows, day.faults, day.skipped)}
        <h2>Operations</h2>
        ${renderOperations(day.recorder)}
      </body>
    </html>`;
  return page.text;
}

function renderVerdict(verdict: Verdict, broken: readonly string[]): Html {
  const sentence = describeVerdict(verdict);
  if (verdict === 'kept') return html`<p class="verdict kept">✔ ${sentence}</p>`;
  const sentences = broken.map((each) => html`<li>${each}</li>`);
  return html`<p class="verdict broken">✖ ${sentence}</p>
    <ul>
      ${sentences}
    </ul>`;
}

/** Formats a time to the minute: `2027-05-01 12:00 UTC`. */
const formatTime = (time: Date): string =>
  `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function renderFacts({ day, options }: SoakReport, createdAt: Date): Html {
  const { cores, machine, memoryGigabytes, node } = describeMachine();
  const seconds = (day.endedAt - day.startedAt) / 1_000;
  const facts: readonly (readonly [string, string])[] = [
    ['Requests', formatWhole(day.recorder.total)],
    ['Duration', `${(seconds / 60).toFixed(1)} minutes`],
    ['Average rate', `${formatWhole(Math.round(day.recorder.total / seconds))} a second`],
    ['Behind plan', `up to ${day.recorder.behindSeconds.toFixed(1)} s`],
    ['Not sent', describeUnsent(day)],
    ['Load generator', `${(100 * day.loadShare).toFixed(0)} % of a core`],
    ['Workers', options.workers === null ? 'none' : String(options.workers)],
    ['Machine', `${machine}, ${cores} cores, ${memoryGigabytes} GB`],
    ['Node.js', node],
    ['Created', formatTime(createdAt)],
  ];
  return html`<dl>
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
