import type { SearchHit } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { RecentHit } from '#console/app/recent.ts';
import { hrefOf } from '#console/app/router.ts';
import { Status } from '#console/ui/status.tsx';

/** One row of the results. */
export interface Choice {
  readonly path: string;
  readonly kind: string;
  readonly title: string;
  readonly detail: string | null;
  readonly status: SearchHit['status'];
  readonly hit: RecentHit | null;
}

interface HitsProps {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly selected: number;
  readonly onSelect: (index: number) => void;
  /** Called before the link of a choice is followed. */
  readonly onOpen: (choice: Choice) => void;
}

/** The results below the search field. */
export function Hits({ choices, id, onOpen, onSelect, selected }: HitsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" class="hits">
      {choices.map((choice, index) => (
        <a
          key={choice.path + choice.kind}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          href={hrefOf(choice.path)}
          tabIndex={-1}
          onPointerMove={() => onSelect(index)}
          onClick={() => onOpen(choice)}
        >
          <ChoiceText choice={choice} />
        </a>
      ))}
    </div>
  );
}

function ChoiceText({ choice }: { readonly choice: Choice }): ComponentChildren {
  const { detail, kind, status, title } = choice;
  return (
    <>
      <span class="kind">{kind}</span>
      <span class="title">
        <bdi>{title}</bdi>
      </span>
      {detail && (
        <span class="detail">
          <bdi>{detail}</bdi>
        </span>
      )}
      {status && <Status of={status} />}
    </>
  );
}
