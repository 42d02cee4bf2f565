import type { Question } from './question.ts';
import { drops } from './questions/drops.ts';
import { events } from './questions/events.ts';
import { machines } from './questions/machines.ts';
import { props } from './questions/props.ts';
import { retention } from './questions/retention.ts';
import { trials } from './questions/trials.ts';
import { systems, versions } from './questions/versions.ts';

/** All that can be asked, in the order of the help. */
export const QUESTIONS: readonly Question[] = [
  machines,
  versions,
  systems,
  events,
  props,
  drops,
  retention,
  trials,
];
