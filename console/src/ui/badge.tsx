import type { ComponentChildren } from 'preact';

/** `good`: works; `warning`: needs attention soon; `bad`: does not work; `info`, `muted`: neither. */
export type Tone = 'good' | 'warning' | 'bad' | 'info' | 'muted';

interface BadgeProps {
  readonly tone?: Tone;
  readonly children?: ComponentChildren;
}

/** A status in a word; the tone only adds to it. */
export function Badge({ tone = 'muted', children }: BadgeProps) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
