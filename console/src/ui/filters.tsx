import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { changeQuery } from '#console/app/router.ts';
import type { QueryChanges } from '#console/app/query.ts';

import { beginOf, dayOf } from './day.ts';
import { inputType } from './field.tsx';
import { inAddress, type TableState } from './table-state.ts';

/** A choice or a date that a list is filtered by; its name is that of the parameter of the interface. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** Absent: a field of `type`. The choice of everything is added. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** `day`: a day whose begin is sent as a time, for the operator's time zone; `date`: the day itself. Default: text. */
  readonly type?: 'text' | 'date' | 'day';
}

/** A named set of filters. */
export interface ReadyFilter {
  readonly label: string;
  readonly query: Readonly<Record<string, string>>;
}

interface FiltersProps {
  readonly search?: string;
  readonly filters: readonly Filter[];
  readonly ready: readonly ReadyFilter[];
  readonly state: TableState;
  readonly children?: ComponentChildren;
}

/** Search, filters and ready filters of a list. */
export function Filters({ search, filters, ready, state, children }: FiltersProps) {
  const change = (changes: QueryChanges): void =>
    changeQuery(inAddress(state, { ...changes, cursor: null }));
  return (
    <>
      {ready.length > 0 && <ReadyFilters ready={ready} state={state} />}
      <div class="filters">
        {search !== undefined && (
          <SearchField
            placeholder={search}
            value={state.filters['search'] ?? ''}
            onChange={(value) => change({ search: value })}
          />
        )}
        {filters.map((filter) => (
          <FilterField
            key={filter.name}
            filter={filter}
            value={state.filters[filter.name] ?? ''}
            onChange={(value) => change({ [filter.name]: value })}
          />
        ))}
        <div class="actions">{children}</div>
      </div>
    </>
  );
}

interface ControlProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterField({ filter, value, onChange }: ControlProps & { readonly filter: Filter }) {
  const id = useId();
  const { label, options, type = 'text' } = filter;
  return (
    <div class={`filter ${value === '' ? '' : 'set'}`}>
      <label for={id}>{label}</label>
      {options === undefined ? (
        <input
          id={id}
          {...inputType(type === 'text' ? 'text' : 'date')}
          value={type === 'day' ? dayOf(value) : value}
          onChange={({ currentTarget: { value: text } }) =>
            onChange(type === 'day' ? beginOf(text) : text.trim())
          }
        />
      ) : (
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">Any</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

/** How long typing pauses before the list is searched. */
const TYPING_PAUSE_MS = 250;

function SearchField({ placeholder, value, onChange }: ControlProps & { placeholder: string }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // The address changed otherwise, such as by a ready filter; typing is not disturbed.
    if (field.current !== null && document.activeElement !== field.current) {
      field.current.value = value;
    }
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (text: string): void => {
    clearTimeout(timer.current);
    onChange(text.trim());
  };
  return (
    <input
      ref={field}
      type="search"
      class="search"
      aria-label={placeholder}
      placeholder={placeholder}
      defaultValue={value}
      maxLength={320}
      spellcheck={false}
      onInput={(event) => {
        const { value: text } = event.currentTarget;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => send(text), TYPING_PAUSE_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget.value);
      }}
    />
  );
}

/** Links that replace all filters. */
function ReadyFilters({ ready, state }: Pick<FiltersProps, 'ready' | 'state'>) {
  const cleared = Object.fromEntries(Object.keys(state.filters).map((name) => [name, null]));
  const isSet = ({ query }: ReadyFilter): boolean =>
    Object.keys(state.filters).length === Object.keys(query).length &&
    Object.entries(query).every(([name, value]) => state.filters[name] === value);
  const all: ReadyFilter = { label: 'All', query: {} };
  return (
    <div class="ready" role="group" aria-label="Ready filters">
      {[all, ...ready].map((each) => (
        <button
          key={each.label}
          type="button"
          aria-pressed={isSet(each)}
          onClick={() => changeQuery(inAddress(state, { ...cleared, ...each.query, cursor: null }))}
        >
          {each.label}
        </button>
      ))}
    </div>
  );
}
