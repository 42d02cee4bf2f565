/** A parsed value, or the requirement that the text does not meet, which completes "NAME must …". */
export type Parsed<T> = { readonly value: T } | { readonly must: string };
