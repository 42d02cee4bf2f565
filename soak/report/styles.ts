/** The style sheet of a report: light and dark, narrow and wide. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --page: #fff; --text: #1c2430; --quiet: #5a6676; --line: #d9dfe7; --fault: #f3e3cf;
  --kept: #0b7a3e; --broken: #b3261e;
  --s0: #0067b1; --s1: #c2410c; --s2: #047857; --s3: #9333a8; --s4: #8a6a00; --s5: #c2187a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --text: #e4e9f0; --quiet: #9aa7b8; --line: #2c3542; --fault: #3a2d1b;
    --kept: #4ccb84; --broken: #ff8a80;
    --s0: #5db1ff; --s1: #ff9557; --s2: #3dd6a3; --s3: #d78bf0; --s4: #e3bf4d; --s5: #ff8fc4;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; } h3 { font-size: 1rem; }
.verdict { font-size: 1.15rem; font-weight: 600; } .kept { color: var(--kept); } .broken { color: var(--broken); }
.note, .unit, .legend span { color: var(--quiet); font-size: 0.875rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.5rem 1rem; margin: 1rem 0; }
dt { color: var(--quiet); font-size: 0.875rem; } dd { margin: 0; font-weight: 600; }
ul { margin: 0.25rem 0; padding-left: 1.1rem; } td ul { list-style: none; padding: 0; margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
td .note { display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.5rem 2rem; }
figure { margin: 0; min-width: 0; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0; font-size: 0.875rem; }
.legend li::before { content: ""; display: inline-block; width: 1rem; height: 0.2rem; margin-right: 0.4rem;
  vertical-align: middle; background: var(--series); }
.plot { position: relative; height: 11rem; margin: 1.4rem 0.5rem 1.6rem 3rem; }
.plot svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.plot span { position: absolute; font-size: 0.75rem; color: var(--quiet); white-space: nowrap; line-height: 1; }
.plot .y { right: calc(100% + 0.4rem); transform: translateY(50%); }
.plot .x { top: calc(100% + 0.4rem); transform: translateX(-50%); }
.plot .band { bottom: calc(100% + 0.25rem); transform: translateX(-50%); }
.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.fault { fill: var(--fault); }
.line { fill: none; stroke: var(--series); stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round;
  vector-effect: non-scaling-stroke; }
.s0 { --series: var(--s0); } .s1 { --series: var(--s1); } .s2 { --series: var(--s2); }
.s3 { --series: var(--s3); } .s4 { --series: var(--s4); } .s5 { --series: var(--s5); }
td p { margin: 0; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  td { display: block; border: 0; padding: 0.1rem 0; }
  td:empty { display: none; }
  .number { text-align: left; }
  .number::before { content: attr(data-label) ": "; color: var(--quiet); }
}
`;
