/**
 * Distributes a total over minutes in proportion to weights. The numbers are whole and their sum is the total.
 * @param weights of each minute, not negative, at least one positive
 */
export function distribute(total: number, weights: readonly number[]): Uint32Array {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = new Uint32Array(weights.length);
  let cumulated = 0;
  let placed = 0;
  weights.forEach((weight, minute) => {
    cumulated += weight;
    // The last minute takes the rest, whatever the sums of fractions are.
    const isLast = minute === weights.length - 1;
    const until = isLast ? total : Math.min(total, Math.round((total * cumulated) / all));
    counts[minute] = until - placed;
    placed = until;
  });
  return counts;
}

/** The weight of a minute in a peak: the density of a normal distribution. */
export function peak(minute: number, center: number, deviation: number): number {
  const distance = (minute - center) / deviation;
  return Math.exp(-(distance ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI));
}
