import { createPagePolicy, PAGE_STYLE } from '#server/pages/render-document.ts';

/** The style of the pages for buyers. */
export const BUYER_STYLE = `${PAGE_STYLE}
main { max-width: 42rem; }
h2 { margin: 2rem 0 0.5rem; color: var(--ink); font-size: 1.2rem; line-height: 1.3; }
h3 { margin: 0 0 0.25rem; color: var(--ink); font-size: 1rem; }
ul, ol { margin: 0 0 1rem; }
ul.plain { padding: 0; list-style: none; }
ul.plain > li { margin: 0 0 0.75rem; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
ul.plain > li > :last-child { margin-bottom: 0; }
li h2 { margin-top: 0; }
a { color: var(--link); }
:root { --link: light-dark(#1d4ed8, #9db8ff); --bad: light-dark(#b42318, #ff9d92); --good: light-dark(#1a7f37, #6fdd8b); }
label, .label { display: block; margin: 0 0 0.25rem; color: var(--ink); font-weight: 600; }
input[type='text'], input[type='email'], textarea {
  box-sizing: border-box;
  width: 100%;
  margin: 0 0 0.5rem;
  padding: 0.6rem 0.75rem;
  border: 1px solid var(--quiet);
  border-radius: 8px;
  background: var(--back);
  color: var(--ink);
  font: 1rem/1.4 ui-monospace, monospace;
}
input[type='email'] { font-family: inherit; }
input[type='file'] { max-width: 100%; min-height: 44px; margin: 0 0 1rem; color: var(--plain); font: inherit; }
input.code { max-width: 12rem; font-size: 1.5rem; letter-spacing: 0.15em; text-transform: uppercase; }
input:focus-visible, textarea:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link);
  outline-offset: 2px;
}
input[aria-invalid='true'], textarea[aria-invalid='true'] { border: 2px solid var(--bad); }
p, li { text-wrap: pretty; }
button, a.button { text-wrap: balance; }
form { margin: 0 0 1rem; }
form p:last-child { margin-top: 0.5rem; }
.error, .notice, .bad, .good { padding: 0.6rem 0.9rem; border-left: 4px solid var(--bad); background: var(--back); color: var(--ink); }
.notice, .good { border-color: var(--good); }
.hint { color: var(--quiet); font-size: 0.9rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dl { display: flex; flex-wrap: wrap; gap: 0.1rem 1.25rem; margin: 0 0 1rem; font-size: 0.95rem; }
dl > div { display: flex; flex-wrap: wrap; gap: 0 0.4rem; }
dt { color: var(--quiet); }
li.machine { display: grid; grid-template-columns: 1fr auto; gap: 0.25rem 0.75rem; align-items: center; }
li.machine > a { grid-area: 1 / 2 / span 2; }
li dl { margin: 0; }
dd { margin: 0; }
.quiet { border: 2px solid var(--line); background: transparent; color: var(--ink); }
a.button {
  display: inline-block;
  padding: 0.5rem 1.2rem;
  border-radius: 8px;
  font-weight: 600;
  line-height: 1.3;
  min-height: 1.3rem;
  text-decoration: none;
}
a.button:not(.quiet) { border: 2px solid transparent; background: var(--button); color: var(--label); }
a.button.quiet:hover { border-color: var(--quiet); }
.row { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; margin: 1.5rem 0; }
.row form, .row p { margin: 0; }
li .row { margin: 0; }
summary { min-height: 2rem; color: var(--ink); font-weight: 600; cursor: pointer; }
details { margin: 1.5rem 0; }
nav, .pager { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: center; margin: 1rem 0; }
code { font-size: 0.95em; }
svg.qr { display: block; width: 100%; max-width: 26rem; height: auto; margin: 0 0 1.5rem; background: #ffffff; border-radius: 8px; }
@media (max-width: 35rem) {
  ul.plain > li { padding: 0.75rem; }
  .row > * { width: 100%; }
  button, a.button { box-sizing: border-box; width: 100%; text-align: center; }
  li.machine > a.button { grid-area: 1 / 2; width: auto; padding: 0.5rem 0.8rem; }
  li.machine > dl { grid-column: 1 / -1; }
}
`;

export const BUYER_POLICY = createPagePolicy(BUYER_STYLE);
