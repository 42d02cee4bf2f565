import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { hrefOf } from '#console/app/router.ts';

/** The list that a page belongs to. */
export interface BackLink {
  readonly to: string;
  readonly label: string;
}

interface PageProps {
  readonly title: string;
  /** One sentence below the title. */
  readonly intro?: ComponentChildren;
  readonly back?: BackLink;
  /** Beside the title, such as a badge. */
  readonly status?: ComponentChildren;
  /** Buttons at the right of the title. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The frame of a page: title of the document, heading that gets the focus after navigation, actions. */
export function Page({ title, intro, back, status, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  useEffect(() => {
    // Screen readers announce the new page; an autofocused field keeps the focus.
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <article class="page">
      <header class="page-head">
        <div>
          {back && (
            <a class="back" href={hrefOf(back.to)}>
              <span aria-hidden="true">← </span>
              {back.label}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title} {status}
          </h1>
          {intro && <p class="intro">{intro}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </article>
  );
}

interface SectionProps {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A part of a page with a heading. */
export function Section({ title, intro, actions, children }: SectionProps) {
  return (
    <section class="section">
      <header>
        <div>
          <h2>{title}</h2>
          {intro && <p class="intro">{intro}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A surface with a border. */
export function Card({ children }: { readonly children?: ComponentChildren }) {
  return <div class="card">{children}</div>;
}
