import { useEffect } from 'preact/hooks';

import { changeQuery } from '#console/app/router.ts';

import { Button } from './button.tsx';
import { Loading } from './empty.tsx';
import { inAddress, type TableState } from './table-state.ts';

/** The cursor before each cursor of this visit: the interface only pages forward. */
const previousCursors = new Map<string, string>();

interface PagesProps {
  readonly state: TableState;
  /** The cursor of the next page. */
  readonly next: string | null;
  /** Whether the page has fewer rows than a page can have. */
  readonly isPartial: boolean;
}

/** The buttons that go to other pages of a list. */
export function Pages({ state, next, isPartial }: PagesProps) {
  const { cursor } = state;
  if (cursor === '' && next === null) return null;
  const go = (to: string): void => {
    changeQuery(inAddress(state, { cursor: to }), { replace: false });
    globalThis.scrollTo(0, 0);
  };
  const previous = previousCursors.get(cursor);
  return (
    <nav class="pages" aria-label="Pages">
      <Button disabled={cursor === ''} onClick={() => go(previous ?? '')}>
        {cursor === '' || previous !== undefined ? 'Previous' : 'First page'}
      </Button>
      <Button
        disabled={next === null}
        onClick={() => {
          if (next === null) return;
          previousCursors.set(next, cursor);
          go(next);
        }}
      >
        Next
      </Button>
      {isPartial && next !== null && <span>More may match: the next page goes on.</span>}
    </nav>
  );
}

/** Goes on from a page without rows to the next one: the service searched a limited number of rows, and none matches. */
export function NextPage({ state, next }: { readonly state: TableState; readonly next: string }) {
  useEffect(() => {
    previousCursors.set(next, previousCursors.get(state.cursor) ?? '');
    changeQuery(inAddress(state, { cursor: next }));
  }, [state.cursor, next]);
  return <Loading />;
}
