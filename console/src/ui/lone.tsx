import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { Logo } from './logo.tsx';

interface LoneProps {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A page without navigation, such as that of signing in. */
export function Lone({ title, intro, children }: LoneProps) {
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  return (
    <main class="lone">
      <div class="card">
        <p class="brand">
          <Logo /> Latchkey
        </p>
        <h1>{title}</h1>
        {intro && <p class="intro">{intro}</p>}
        {children}
      </div>
    </main>
  );
}
