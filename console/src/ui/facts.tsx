import type { ComponentChildren } from 'preact';

interface FactsProps {
  /** Label and value; a value that is undefined is left out. */
  readonly items: readonly (readonly [label: string, value: ComponentChildren])[];
}

/** Labels with their values. */
export function Facts({ items }: FactsProps) {
  return (
    <dl class="facts">
      {items
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value ?? <span class="dim">–</span>}</dd>
          </div>
        ))}
    </dl>
  );
}
