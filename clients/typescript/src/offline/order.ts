/** What a person asks for on a machine without a connection. */
export interface OfflineOrder {
  /** The id of the product in the catalogue. */
  readonly product: string;
  /** What the user calls the machine. */
  readonly name?: string | null;
}
