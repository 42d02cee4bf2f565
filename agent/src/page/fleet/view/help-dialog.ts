import { make } from '../../browser/dom.ts';
import { makeButton, makeWith } from './elements.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['j  k', 'Next and previous machine'],
  ['Enter', 'Open the machine in another tab'],
  ['1 … 5', 'CPU, memory, load, network, disk'],
  ['w', 'Wall view: large, without controls'],
  ['← →', 'Move the time in the figure; with Shift 10 seconds'],
  ['Esc', 'Leave the search, the wall or the figure'],
  ['?', 'This help'],
];

const FACTS: readonly string[] = [
  'The page connects from this browser straight to each agent, and stores no figures. It warns only while it is open and visible: for alerts at any time, let a collector read the agents.',
  'Machines with problems come first, errors before warnings, the oldest first. Load is per processor. Network and disk have a logarithmic scale.',
  'With more than 150 machines, the page connects to them by turns, and shows how old their figures are.',
];

/** The keys, and what a person should know. */
export class HelpDialog {
  readonly element = document.createElement('dialog');

  constructor() {
    const title = makeWith('h2', { id: 'fleet-help-title' }, 'Keys and help');
    const keys = KEYS.map(([key, text]) =>
      make('div', make('dt', make('kbd', key)), make('dd', text)),
    );
    this.element.className = 'fleet-dialog';
    this.element.setAttribute('aria-labelledby', 'fleet-help-title');
    this.element.append(
      title,
      make('dl.fleet-keys', ...keys),
      ...FACTS.map((fact) => make('p', fact)),
      makeButton('fleet-button', 'Close', () => this.element.close()),
    );
  }

  open(): void {
    this.element.showModal();
  }
}
