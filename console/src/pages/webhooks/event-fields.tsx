import type { FormValues } from '#console/ui/form.tsx';
import { Field } from '#console/ui/field.tsx';

import { EVENT_TYPES } from './webhook-labels.ts';

interface EventFieldsProps {
  /** The selected types; empty: all. */
  readonly selected: readonly string[];
}

/** The choice of event types: none checked means all. */
export function EventFields({ selected }: EventFieldsProps) {
  return (
    <fieldset>
      <legend>Events</legend>
      <p class="hint">Without a choice it receives all of them, also those of later versions.</p>
      {EVENT_TYPES.map(([type, meaning]) => (
        <Field
          key={type}
          type="checkbox"
          name={`event ${type}`}
          label={`${type}: ${meaning}`}
          value={selected.includes(type) ? 'on' : ''}
        />
      ))}
    </fieldset>
  );
}

/** Returns the checked event types. */
export function readEvents(values: FormValues): string[] {
  return EVENT_TYPES.map(([type]) => type).filter((type) => values[`event ${type}`] === 'on');
}
