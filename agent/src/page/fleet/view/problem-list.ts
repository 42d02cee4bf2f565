import { make } from '../../browser/dom.ts';
import { formatDuration } from '../../browser/format.ts';
import type { ListedMachine, Machine } from '../core/types.ts';
import { LiveText, makeButton, makeOutsideLink, makeWith, Rows } from './elements.ts';
import {
  capitalize,
  compareTroubled,
  findRemedy,
  type Problem,
  type Remedy,
  type TroubledMachine,
} from './problems.ts';
import { formatValue, QUANTITIES, readLatest } from './quantities.ts';
import { TokenForm } from './token-form.ts';
import { MachineLink } from './machine-link.ts';
import { formatAge, toPageUrl } from './machine-texts.ts';
import { OverflowNote } from './overflow-note.ts';

/** What a person does about a machine with problems. */
export interface ProblemActions {
  readonly enterToken: (machine: Machine, token: string) => void;
  readonly retry: (machine: Machine) => void;
  /** The person opens the page of the machine, which may make the browser trust it. */
  readonly open: (machine: Machine) => void;
}

/** The machines with problems as rows, the worst first. */
export class ProblemList {
  readonly element: HTMLElement;
  /** The number of rows that a wall has no room for, to be shown below. */
  readonly overflow: OverflowNote;
  readonly #rows: Rows<ProblemRow>;
  readonly #actions: ProblemActions;

  constructor(actions: ProblemActions) {
    this.#actions = actions;
    this.element = makeWith('ul.fleet-problems', { 'aria-labelledby': 'fleet-problems-title' });
    this.overflow = new OverflowNote(this.element);
    this.#rows = new Rows(this.element);
  }

  /** Shows machines with problems. */
  show(troubled: readonly TroubledMachine[]): void {
    const sorted = [...troubled].sort(compareTroubled);
    const machines = new Map(sorted.map(({ machine }) => [machine.listed.id, machine]));
    this.#rows.show([...machines.keys()], () => new ProblemRow(this.#actions));
    for (const { machine, problems } of sorted) {
      this.#rows.get(machine.listed.id)?.show(machine, problems);
    }
    this.overflow.observe(this.element.children);
  }

  /** Shows newer figures. */
  update(nowMs: number): void {
    for (const row of this.#rows.all) row.update(nowMs);
  }
}

/** A machine with its problems, and what a person can do about them. */
class ProblemRow {
  readonly element: HTMLElement;
  readonly #link = new MachineLink();
  readonly #labels = new LiveText('span.fleet-labels');
  readonly #sentences = make('ul.fleet-sentences');
  readonly #remedies = make('div.fleet-remedies');
  readonly #figures = new LiveText('p.fleet-latest');
  readonly #lines: SentenceLine[] = [];
  readonly #actions: ProblemActions;
  #machine: Machine | null = null;
  #remedy: Remedy = 'none';

  constructor(actions: ProblemActions) {
    this.#actions = actions;
    const name = make('p.fleet-name', this.#link.element, this.#labels.element);
    const foot = make('div.fleet-foot', this.#figures.element, this.#remedies);
    this.element = make('li', name, this.#sentences, foot);
  }

  show(machine: Machine, problems: readonly Problem[]): void {
    this.#machine = machine;
    const { listed, state } = machine;
    this.#link.show(listed);
    this.#labels.set(listed.labels.join(' · '));
    const isError = problems.some(({ severity }) => severity === 'error');
    this.element.dataset['severity'] = isError ? 'error' : 'warning';
    this.#showSentences(problems, state.kind === 'gap');
    this.#showRemedy(findRemedy(state), machine);
  }

  update(nowMs: number): void {
    for (const line of this.#lines) line.update(nowMs);
    if (this.#machine === null) return;
    this.#figures.set(describeLatest(this.#machine, nowMs));
  }

  #showSentences(problems: readonly Problem[], isGap: boolean): void {
    while (this.#lines.length > problems.length) this.#lines.pop()?.element.remove();
    for (const [at, problem] of problems.entries()) {
      const line = this.#lines[at] ?? new SentenceLine();
      if (this.#lines[at] === undefined) {
        this.#lines.push(line);
        this.#sentences.append(line.element);
      }
      line.show(problem, isGap && !problem.isGap);
    }
  }

  /** Replaces the controls only when they differ, so that a token can be typed meanwhile. */
  #showRemedy(remedy: Remedy, { listed }: Machine): void {
    if (remedy === this.#remedy) return;
    this.#remedy = remedy;
    this.#remedies.replaceChildren(...this.#makeRemedy(remedy, listed));
  }

  #makeRemedy(remedy: Remedy, { name, address }: ListedMachine): HTMLElement[] {
    if (remedy === 'none') return [];
    const retry = makeButton('fleet-button', 'Try again', () => {
      if (this.#machine !== null) this.#actions.retry(this.#machine);
    });
    if (remedy === 'retry') return [retry];
    if (remedy === 'open') {
      const link = makeOutsideLink('fleet-button', toPageUrl(address), 'Open this machine once');
      link.addEventListener('click', () => {
        if (this.#machine !== null) this.#actions.open(this.#machine);
      });
      return [link, retry];
    }
    const form = new TokenForm(name, (token) => {
      if (this.#machine !== null) this.#actions.enterToken(this.#machine, token);
    });
    return [form.element];
  }
}

/** A sentence with its mark and its age. */
class SentenceLine {
  readonly element: HTMLElement;
  readonly #mark = makeWith('span.fleet-mark', { 'aria-hidden': 'true' });
  readonly #sentence = new LiveText('span.fleet-sentence');
  readonly #age = new LiveText('span.fleet-age');
  #since = 0;

  constructor() {
    this.element = make('li', this.#mark, this.#sentence.element, ' ', this.#age.element);
  }

  /** @param isPast whether the machine does not answer, so that the problem may be over */
  show({ severity, sentence, since, isGap }: Problem, isPast: boolean): void {
    this.element.dataset['severity'] = severity;
    this.element.classList.toggle('fleet-past', isPast);
    this.#sentence.set(isGap ? capitalize(sentence) : isPast ? `Before: ${sentence}` : sentence);
    this.#since = since;
  }

  update(nowMs: number): void {
    this.#age.set(formatAge(this.#since, nowMs));
  }
}

/** CPU, memory and load: what explains most problems. */
const SHOWN_FIGURES = 3;

/** Describes the newest figures and omitted problems; figures with their age, when newer ones are missing. */
function describeLatest(machine: Machine, nowMs: number): string {
  const { latestAt, state } = machine;
  if (latestAt === null) return '';
  const figures = QUANTITIES.slice(0, SHOWN_FIGURES).map((quantity) => {
    const value = formatValue(quantity, readLatest(quantity, machine));
    return `${quantity.label} ${value}`;
  });
  const age = formatDuration(Math.max(0, nowMs - latestAt) / 1000);
  const omitted = machine.noticesOmitted === 0 ? [] : [`${machine.noticesOmitted} more problems`];
  return `${state.kind === 'live' ? '' : `${age} ago: `}${[...omitted, ...figures].join(' · ')}`;
}
