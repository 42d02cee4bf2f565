type AbsentKey<T> = { [K in keyof T]: null extends T[K] ? K : never }[keyof T];

/** The same fields; those that may be null are left out instead. */
export type Present<T> = {
  [K in Exclude<keyof T, AbsentKey<T>>]: T[K];
} & { [K in AbsentKey<T>]?: Exclude<T[K], null> };

/** Leaves out the fields that are null: what a machine lacks is absent on the wire. */
export function present<T extends object>(fields: T): Present<T>;
export function present(fields: object): object {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) kept[name] = value;
  return kept;
}
