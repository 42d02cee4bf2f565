/** What happens after some days. The numbers of the other kinds have no meaning. */
export interface Step {
  readonly kind:
    | 'renew'
    | 'fail'
    | 'payLate'
    | 'upgrade'
    | 'downgrade'
    | 'move'
    | 'refund'
    | 'cancel'
    | 'dispute'
    | 'win'
    | 'pause'
    | 'resume'
    | 'renewUnseen'
    | 'payAfterEnd'
    | 'payNegative'
    | 'payByStranger'
    | 'renewInYen'
    | 'editCatalog';
  readonly days: number;
}

/** The license as the model expects it; days since the start. */
export interface ModelLicense {
  readonly endsOn: number;
  readonly isRefunded: boolean;
  readonly isCanceled: boolean;
  readonly isDisputed: boolean;
  readonly isPaused: boolean;
  readonly productId: string;
  readonly machines: number;
}

/** How a provider writes facts. */
export interface ModelOptions {
  /** Whether lines have ids of their own and changes contain credits, as at Stripe; else lines have the id of the payment. */
  readonly hasStableLines: boolean;
  /** Whether the subscription began elsewhere, and its license was imported. */
  readonly isImported: boolean;
}

/** The machines that the catalogue sells after a number of edits. */
export function machinesAfter(edits: number, productId: string): number {
  return (productId === 'sellers' ? 10 : 2) + edits;
}
