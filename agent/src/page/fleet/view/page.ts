import { make } from '../../browser/dom.ts';
import type { FleetChange } from '../core/types.ts';
import type { MountOptions } from '../mount.ts';
import { findLargest } from './curve.ts';
import { Figure } from './figure.ts';
import { chooseScale } from './figure-scale.ts';
import { EmptyNote } from './empty-note.ts';
import { EventList } from './event-list.ts';
import { type GroupBy, suggestGroupBy } from './grouping.ts';
import { Header } from './header.ts';
import { HelpDialog } from './help-dialog.ts';
import { FleetListControl } from './list-control.ts';
import { MachineLists } from './machine-lists.ts';
import { arrangeFleet, type FleetView } from './model.ts';
import { Palette } from './palette.ts';
import { HiddenPause } from './pause.ts';
import { judgeMachine } from './problems.ts';
import type { Quantity } from './quantities.ts';
import { Settings } from './settings.ts';
import { type KeyActions, listenForKeys, moveToMachine } from './shortcuts.ts';
import { countConditions, describePause, describeTitle } from './summary.ts';
import { findQuantityOfKey, Toolbar } from './toolbar.ts';
import { Wall } from './wall.ts';

/** How long the sentence about a pause stays. */
const NOTE_MS = 60_000;

/** The page of a fleet. */
export class FleetPage {
  readonly #root = make('div.fleet');
  readonly #options: MountOptions;
  readonly #settings = new Settings();
  readonly #palette = new Palette(this.#root, () => this.#figure.draw());
  readonly #header = new Header(Date.now());
  readonly #toolbar: Toolbar;
  readonly #lists: MachineLists;
  readonly #figure = new Figure(this.#palette);
  readonly #events: EventList;
  readonly #empty: EmptyNote;
  readonly #help = new HelpDialog();
  readonly #wall = new Wall(this.#root);
  readonly #ends: (() => void)[] = [];
  #search = '';
  #frame: number | null = null;
  #view: FleetView | null = null;
  /** The machines whose own page a person opened, to connect again afterwards. */
  readonly #opened = new Set<string>();
  #noteTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(parent: HTMLElement, options: MountOptions) {
    this.#options = options;
    const { fleet, saveToken, controls = [] } = options;
    const control = new FleetListControl(options);
    const edit = control.make('fleet-button', 'Edit list');
    this.#toolbar = this.#makeToolbar(edit === null ? controls : [edit, ...controls]);
    this.#lists = new MachineLists(this.#settings, this.#palette, {
      enterToken: ({ listed }, token) => {
        saveToken(listed, token);
        fleet.setToken(listed.id, token);
      },
      retry: ({ listed }) => fleet.retry(listed.id),
      open: ({ listed }) => this.#opened.add(listed.id),
    });
    this.#events = new EventList('Since this page was opened', location.origin, fleet.events);
    this.#empty = new EmptyNote(control.make('fleet-button.fleet-primary', 'Add machines'));
    this.#build(parent, control.dialog?.element ?? null);
    this.#start();
  }

  /** Removes the page, its listeners and its timers. */
  close(): void {
    for (const end of this.#ends.splice(0)) end();
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#noteTimer);
    for (const part of [this.#palette, this.#lists, this.#figure, this.#events, this.#wall]) {
      part.close();
    }
    this.#root.remove();
  }

  #makeToolbar(further: readonly HTMLElement[]): Toolbar {
    const actions = {
      onSearch: (search: string) => {
        this.#search = search;
        this.#request('machines');
      },
      onQuantity: (quantity: Quantity) => this.#choose(quantity),
      onGroupBy: (by: GroupBy) => {
        this.#settings.groupBy = by;
        this.#request('machines');
      },
      onWall: () => this.#setWall(true),
      onHelp: () => this.#help.open(),
    };
    return new Toolbar(actions, further);
  }

  #build(parent: HTMLElement, dialog: HTMLElement | null): void {
    this.#root.append(
      this.#header.element,
      this.#toolbar.element,
      this.#events.announcer,
      this.#empty.element,
      make(
        'div.fleet-body',
        this.#lists.attention,
        this.#figure.element,
        this.#lists.calm,
        this.#events.element,
      ),
      this.#help.element,
      ...(dialog === null ? [] : [dialog]),
    );
    parent.append(this.#root);
  }

  #start(): void {
    const { fleet } = this.#options;
    const title = document.title;
    const pause = new HiddenPause(fleet, (from, until) => this.#note(describePause(from, until)));
    this.#ends.push(
      fleet.subscribe((change) => this.#request(change)),
      listenForKeys(this.#listKeys()),
      () => pause.close(),
      () => {
        document.title = title;
      },
    );
    const onFocus = (): void => this.#retryOpened();
    addEventListener('focus', onFocus);
    this.#ends.push(() => removeEventListener('focus', onFocus));
    if (this.#wall.isWanted) this.#setWall(true);
    this.#draw();
  }

  #retryOpened(): void {
    for (const id of this.#opened) this.#options.fleet.retry(id);
    this.#opened.clear();
  }

  #listKeys(): KeyActions {
    const chooseBy = (key: string) => (): boolean => {
      const quantity = findQuantityOfKey(key);
      if (quantity !== null) this.#choose(quantity);
      return quantity !== null;
    };
    return new Map([
      ['/', () => this.#unlessWall(() => this.#toolbar.focusSearch())],
      ['?', () => this.#unlessWall(() => this.#help.open())],
      ['w', () => this.#setWall(!this.#wall.isOpen)],
      ['Escape', () => this.#wall.isOpen && this.#setWall(false)],
      ['j', () => moveToMachine(this.#root, 1)],
      ['k', () => moveToMachine(this.#root, -1)],
      ...['1', '2', '3', '4', '5'].map((key) => [key, chooseBy(key)] as const),
    ]);
  }

  #unlessWall(act: () => void): boolean {
    if (this.#wall.isOpen) return false;
    act();
    return true;
  }

  #setWall(isOpen: boolean): boolean {
    this.#wall.set(isOpen);
    this.#figure.setWall(isOpen);
    return true;
  }

  #choose(quantity: Quantity): void {
    this.#settings.quantity = quantity;
    this.#request('machines');
  }

  #note(sentence: string): void {
    clearTimeout(this.#noteTimer);
    this.#header.setNote(sentence);
    this.#noteTimer = setTimeout(() => this.#header.setNote(''), NOTE_MS);
  }

  /** Draws with the next frame, so that several changes cost one; a hidden tab has no frames, only its title. */
  #request(change: FleetChange): void {
    if (change === 'machines') this.#view = null;
    if (change === 'machines' && document.hidden) this.#showTitle();
    this.#frame ??= requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = null;
    const nowMs = Date.now();
    const { machines } = this.#options.fleet;
    if (this.#view === null) this.#arrange(nowMs);
    const { quantity } = this.#settings;
    const scale = chooseScale(quantity, findLargest(quantity, machines));
    this.#header.showTime(nowMs);
    this.#lists.update(nowMs, scale.toRatio);
    const end = machines[0]?.history.end ?? 0;
    this.#figure.show({ groups: this.#view?.figure ?? [], quantity, scale, end });
  }

  #arrange(nowMs: number): void {
    const { fleet } = this.#options;
    const groupBy = this.#settings.groupBy ?? suggestGroupBy(fleet.machines);
    const choice = { search: this.#search, groupBy, nowMs, origin: location.origin };
    const view = arrangeFleet(fleet.machines, choice);
    this.#view = view;
    this.#header.show(view.counts, fleet.isPaused);
    this.#toolbar.show(this.#settings.quantity, groupBy);
    this.#lists.show(view, this.#settings.quantity);
    this.#events.show(fleet.events);
    const found = view.figure.reduce((sum, { items }) => sum + items.length, 0);
    this.#empty.show(fleet.machines.length, found, this.#search);
    this.#figure.element.hidden = found === 0;
    this.#root.classList.toggle('fleet-without-list', fleet.machines.length === 0);
    this.#showTitle(view.counts);
  }

  #showTitle(counts = countConditions(this.#options.fleet.machines.map(judgeMachine))): void {
    const { fleet, title = 'Fleet · Latchkey' } = this.#options;
    document.title = describeTitle(counts, title, fleet.isPaused);
  }
}
