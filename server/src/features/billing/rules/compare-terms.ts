/** What a license gives, as far as two products can be compared. */
export interface ComparedTerms {
  readonly productId: string;
  /** Null: unknown, because the catalogue no longer has the product. */
  readonly features: readonly string[] | null;
  readonly maxActivations: number;
}

/**
 * Whether a product is larger than another one: it has every feature of the other and no fewer machines, and more of one of
 * them. A product whose features are unknown is not larger, because that cannot be shown.
 */
export function isLarger(next: ComparedTerms, current: ComparedTerms): boolean {
  if (next.features === null || current.features === null) return false;
  const features = new Set(next.features);
  const hasAll = current.features.every((feature) => features.has(feature));
  if (!hasAll || next.maxActivations < current.maxActivations) return false;
  return (
    features.size > new Set(current.features).size || next.maxActivations > current.maxActivations
  );
}
