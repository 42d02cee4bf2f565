import { changeQuery, query } from '#console/app/router.ts';
import { Page } from '#console/ui/page.tsx';

import { SearchBox } from './search-box.tsx';

/** The search with an address of its own; `/` opens it as a dialog. */
export function SearchPage() {
  return (
    <Page title="Search">
      <SearchBox
        initial={query.peek().get('q') ?? ''}
        onText={(text) => changeQuery({ q: text.trim() })}
      />
    </Page>
  );
}
