import type { SearchResults } from '@latchkey/contract';
import { searchEverything } from '@latchkey/contract/admin/search';
import { useEffect, useId, useState } from 'preact/hooks';

import { useOperation } from '#console/app/call.ts';
import { addRecent, listRecent, type RecentHit } from '#console/app/recent.ts';
import { navigate } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import { PAGES } from '#console/pages.ts';
import { ErrorBox } from '#console/ui/error-box.tsx';

import { KIND_NAMES } from './kinds.ts';
import { Hits, type Choice } from './hits.tsx';

interface SearchBoxProps {
  readonly initial?: string;
  readonly onText?: (text: string) => void;
  /** Called before a result is opened, and at Escape. */
  readonly onLeave?: () => void;
}

/** The types of Preact know a combobox only with a `<datalist>`. */
const COMBOBOX: object = { type: 'search', role: 'combobox' };

const TYPING_PAUSE_MS = 150;
const MIN_CHARACTERS = 2;

/** The field that searches everything, and what it found: arrows select, Enter opens. */
export function SearchBox({ initial = '', onText, onLeave }: SearchBoxProps) {
  const [text, setText] = useState(initial);
  const wanted = useLate(text.trim());
  const results = useOperation(
    searchEverything,
    wanted.length < MIN_CHARACTERS ? null : { query: { q: wanted } },
  );
  const isOld = wanted !== text.trim();
  const choices = listChoices(text.trim(), isOld ? undefined : results.data);
  const [selected, setSelected] = useState(0);
  const id = useId();
  useEffect(() => setSelected(0), [text, results.data]);
  // On its page; a dialog focuses it when it opens.
  useEffect(() => document.getElementById(`${id}-field`)?.focus(), []);

  function leave({ hit }: Choice): void {
    if (hit !== null) addRecent(hit);
    onLeave?.();
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length > 0) {
      setSelected((selected + step + choices.length) % choices.length);
      event.preventDefault();
    }
    // Escape would only empty the field.
    if (event.key === 'Escape' && onLeave !== undefined) {
      event.preventDefault();
      onLeave();
    }
    const choice = choices[selected];
    if (event.key === 'Enter' && choice !== undefined && !isOld) {
      leave(choice);
      navigate(choice.path);
      event.preventDefault();
    }
  }

  return (
    <div class="search-box" aria-busy={isOld || results.isLoading}>
      <input
        {...COMBOBOX}
        id={`${id}-field`}
        class="search"
        aria-label="Search everything"
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length > 0 ? `${id}-${selected}` : undefined}
        aria-autocomplete="list"
        placeholder="Key, e-mail address, transaction, machine or any id"
        autofocus
        spellcheck={false}
        autocomplete="off"
        maxLength={512}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          onText?.(value);
        }}
        onKeyDown={onKey}
      />
      {results.error && <ErrorBox error={results.error} onRetry={results.reload} />}
      {choices.length > 0 && (
        <Hits id={id} choices={choices} selected={selected} onSelect={setSelected} onOpen={leave} />
      )}
      <p class="dim search-state" role="status">
        {describeState({ ...results, text: text.trim(), isOld, choices })}
      </p>
    </div>
  );
}

/** Returns a value once it has not changed for a moment. */
function useLate(value: string): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}

/** The hits, then pages of the console by their names; without a text, what was opened last. */
function listChoices(text: string, results: SearchResults | undefined): Choice[] {
  if (text === '') return listRecent().map(toChoice);
  return [...(results?.items ?? []).map(toChoice), ...listPages(text)];
}

function toChoice(hit: RecentHit): Choice {
  const { detail, kind, path, status, title } = hit;
  return { path, kind: KIND_NAMES[kind], title, detail, status, hit };
}

function listPages(text: string): Choice[] {
  const wanted = text.toLowerCase();
  return PAGES.filter(
    ({ nav, role }) => nav?.label.toLowerCase().startsWith(wanted) && hasRole(role),
  ).map(({ nav, path }) => ({
    path,
    kind: 'Page',
    title: nav?.label ?? path,
    detail: null,
    status: null,
    hit: null,
  }));
}

interface BoxState {
  readonly text: string;
  readonly isOld: boolean;
  readonly isLoading: boolean;
  readonly data: SearchResults | undefined;
  readonly choices: readonly Choice[];
}

function describeState({ choices, data, isLoading, isOld, text }: BoxState): string {
  if (text === '') return choices.length > 0 ? 'Opened last' : 'Nothing opened yet in this tab.';
  if (text.length < MIN_CHARACTERS) return 'Type at least two characters.';
  if (isOld || (isLoading && data === undefined)) return 'Searching …';
  if (data === undefined) return '';
  if (data.items.length === 0) {
    return 'Nothing found. Keys and ids must be whole; e-mail addresses and machines may be their beginning.';
  }
  return data.more ? 'More was found: type more of it.' : `${data.items.length} found`;
}
