import type { Machine } from '../core/types.ts';
import type { FigureMachine } from './figure-painter.ts';
import { type Group, type GroupBy, groupMachines, matchesSearch } from './grouping.ts';
import { judgeMachine, listProblems, type Problem, type TroubledMachine } from './problems.ts';
import { type Counts, countConditions } from './summary.ts';

/** What the page shows of a fleet. */
export interface FleetView {
  /** Of all machines, whatever is searched. */
  readonly counts: Counts;
  /** The machines that match the search: those with problems, in no order. */
  readonly troubled: readonly TroubledMachine[];
  /** The others, calm or without an answer yet. */
  readonly calm: readonly Group<Machine>[];
  /** All of both. */
  readonly figure: readonly Group<FigureMachine>[];
}

/** What a person chose, and what sentences depend on. */
export interface ViewChoice {
  readonly search: string;
  readonly groupBy: GroupBy;
  readonly nowMs: number;
  /** The origin of this page. */
  readonly origin: string;
}

interface Judged {
  readonly listed: Machine['listed'];
  readonly machine: Machine;
  readonly problems: readonly Problem[];
  readonly tone: FigureMachine['tone'];
}

/** Arranges machines: those with problems first, all in groups for the figure. */
export function arrangeFleet(machines: readonly Machine[], choice: ViewChoice): FleetView {
  const found = machines
    .map((machine) => judge(machine, choice))
    .filter((each) => matches(each, choice.search));
  const troubled = found.filter(({ problems }) => problems.length > 0);
  const calm = found.filter(({ problems }) => problems.length === 0);
  return {
    counts: countConditions(machines.map(judgeMachine)),
    troubled,
    calm: groupMachines(
      calm.map(({ machine }) => machine),
      choice.groupBy,
    ).filter(({ items }) => items.length > 0),
    figure: groupMachines(found, choice.groupBy).filter(({ items }) => items.length > 0),
  };
}

function judge(machine: Machine, context: ViewChoice): Judged {
  const problems = listProblems(machine, context);
  const isError = problems.some(({ severity }) => severity === 'error');
  const tone = isError ? 'error' : problems.length > 0 ? 'warning' : 'calm';
  return { listed: machine.listed, machine, problems, tone };
}

function matches({ machine, problems }: Judged, search: string): boolean {
  if (search.trim() === '') return true;
  const { listed, host } = machine;
  return matchesSearch(search, [
    listed.name,
    listed.address,
    host?.hostname ?? '',
    host?.os_name ?? '',
    ...listed.labels,
    ...problems.map(({ sentence }) => sentence),
  ]);
}
