import { changeQuery, hrefOf, path, query } from '#console/app/router.ts';
import { withQuery } from '#console/app/query.ts';

/** One of several views of a page. */
export interface Tab<Id extends string = string> {
  /** The value of the parameter in the address. */
  readonly id: Id;
  readonly label: string;
  readonly count?: number;
}

interface TabsProps {
  readonly label: string;
  readonly items: readonly Tab[];
  /** The parameter in the address. */
  readonly name?: string;
}

/** Returns the id of the selected tab: the first one by default. @throws Error without tabs */
export function selectedTab<Id extends string>(items: readonly Tab<Id>[], name = 'tab'): Id {
  const wanted = query.value.get(name);
  const selected = items.find(({ id }) => id === wanted) ?? items[0];
  if (selected === undefined) throw new Error('There are no tabs.');
  return selected.id;
}

/** Links to the views of a page; the address holds the selected one. */
export function Tabs({ label, items, name = 'tab' }: TabsProps) {
  const selected = selectedTab(items, name);
  return (
    <nav class="tabs" aria-label={label}>
      {items.map(({ id, label: text, count }, index) => (
        <a
          key={id}
          href={hrefOf(path.value + withQuery(query.value, { [name]: index === 0 ? null : id }))}
          aria-current={id === selected ? 'page' : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            changeQuery({ [name]: index === 0 ? null : id });
          }}
        >
          {text}
          {count !== undefined && <span class="count">{count}</span>}
        </a>
      ))}
    </nav>
  );
}
